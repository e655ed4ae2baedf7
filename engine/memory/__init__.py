"""How much memory there is for a model, and how it is divided.

`memory_available` measures (the machine and, in a container, its limit); `plan_memory` is the policy, pure arithmetic.
"""

from engine.memory.available import MemoryAvailable, memory_available
from engine.memory.kv_cache import kv_bytes
from engine.memory.plan import HEADROOM_BYTES, MemoryPlan, SizingSettings, plan_memory

__all__ = [
    "HEADROOM_BYTES",
    "MemoryAvailable",
    "MemoryPlan",
    "SizingSettings",
    "kv_bytes",
    "memory_available",
    "plan_memory",
]
