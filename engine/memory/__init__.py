"""How much memory there is for a model, and how it is divided.

`memory_available` measures (the machine and, in a container, its limit); `plan_memory` is the policy, pure arithmetic.
"""

from engine.memory.available import MemoryAvailable, memory_available
from engine.memory.kv_cache import kv_bytes, kv_bytes_per_token
from engine.memory.plan import MemoryPlan, SizingSettings, plan_memory

__all__ = [
    "MemoryAvailable",
    "MemoryPlan",
    "SizingSettings",
    "kv_bytes",
    "kv_bytes_per_token",
    "memory_available",
    "plan_memory",
]
