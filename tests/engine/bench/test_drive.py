"""The drive's rate is the roofline that decoding is measured against."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench.drive import expert_places, expert_request_bytes, read_rate
from engine.errors import GannetError
from engine.gguf import open_model


def test_reads_stay_inside_the_experts_and_deliver(demo_model: Path) -> None:
    files = open_model(demo_model)
    size = expert_request_bytes(files)
    assert size == max(e.bytes_per_expert for e in files.experts())
    rate = read_rate(expert_places(files), size, 2, seconds=0.1)
    assert rate.bytes_s > 0 and (rate.request_bytes, rate.depth) == (size, 2)


def test_a_file_that_is_gone_is_one_line(demo_model: Path) -> None:
    place = expert_places(open_model(demo_model))[0]
    gone = type(place)(demo_model.with_name("gone.gguf"), place.offset, place.nbytes)
    with pytest.raises(GannetError, match="the drive cannot be measured"):
        read_rate([gone], 4096, 2, seconds=0.1)
