"""No file, however broken, may end in a traceback, a hang or gigabytes: a refusal is one line.

The same cases by the ten thousand: `./dev fuzz`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from tests.engine.gguf.broken_files import BROKEN, Broken, opens
from tests.engine.gguf.header_bytes import GgufBytes


@settings(max_examples=600, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(broken=BROKEN)
def test_any_file_is_refused_in_one_line_or_opens(broken: Broken) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broken.gguf"
        broken.write(path)
        opens(path)


def test_a_flipped_bit_in_any_byte_of_a_header(tmp_path: Path) -> None:
    good, path = GgufBytes(), tmp_path / "broken.gguf"
    content = bytearray(good.build())
    path.write_bytes(content)
    assert opens(path)
    opened = 0
    with path.open("r+b", buffering=0) as file:
        for at in range(len(good.header())):
            for flipped in (content[at] ^ 1 << at % 8, content[at]):
                file.seek(at)
                file.write(bytes([flipped]))
                opened += flipped != content[at] and opens(path)
    assert opened, "a flipped bit in a name is still a model"
