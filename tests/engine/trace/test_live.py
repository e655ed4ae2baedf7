"""Recording the running engine: the trace is stock's routing, whatever ends the recording."""

from __future__ import annotations

import io
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.answer import AnswerOptions, Finished, Piece, answer
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.settings import EngineSettings
from engine.simulation.comparison import Comparison
from engine.trace.format import NONE, RoutingTrace, TraceError
from engine.trace.format import load as load_trace
from engine.trace.journal import JournalHeader
from engine.trace.live import LiveTrace, LiveTraceError, TraceExistsError
from engine.trace.recorder import Recorder
from engine.trace.run import RunSettings, record

PROMPT = "Tell me a story about a fox."
TOKENS = 24
OPTIONS = AnswerOptions(max_tokens=TOKENS, temperature=0, ignore_end=True)


@pytest.fixture(scope="module")
def stock(demo_model: Path) -> RoutingTrace:
    settings = RunSettings(tokens=TOKENS, threads=1, chat=False, ignore_end=True)
    return record(demo_model, [PROMPT], settings, Recorder())


@pytest.fixture
def loaded(demo_model: Path) -> Iterator[LoadedModel]:
    settings = EngineSettings(context_length=256, threads=1, cache_bytes=8 << 20, lookahead=2, census=False)
    with load(open_model(demo_model), settings) as model:
        yield model


def say(loaded: LoadedModel) -> str:
    *_, last = answer(loaded, loaded.llama.tokenize(PROMPT.encode(), special=True), OPTIONS)
    assert isinstance(last, Finished)
    return last.result.text


def test_the_engine_records_what_stock_routes(loaded: LoadedModel, stock: RoutingTrace, tmp_path: Path) -> None:
    said = say(loaded)
    loaded.llama.reset()
    loaded.start_trace(tmp_path / "live.trace")
    assert say(loaded) == said
    status = loaded.stop_trace()
    assert status is not None and status.state == "stopped" and status.dropped == 0
    trace = load_trace(tmp_path / "live.trace")
    assert status.tokens == len(trace.batch) and status.bytes == (tmp_path / "live.trace").stat().st_size
    assert (trace.layers, trace.n_experts, trace.n_used) == (stock.layers, stock.n_experts, stock.n_used)
    n = min(int(trace.decoded.sum()), int(stock.decoded.sum()))
    assert n >= TOKENS - 1
    np.testing.assert_array_equal(trace.selected[trace.decoded][:n], stock.selected[stock.decoded][:n])
    prompt, expected = trace.selected[~trace.decoded], stock.selected[~stock.decoded]
    np.testing.assert_array_equal(prompt[:, :-1], expected[:, :-1])
    np.testing.assert_array_equal(prompt[-1], expected[-1])
    assert (prompt[:-1, -1] == NONE).all()  # llama.cpp computes the last layer of a prompt's last token only


def test_the_guesses_are_those_that_the_engine_made(loaded: LoadedModel, stock: RoutingTrace, tmp_path: Path) -> None:
    loaded.start_trace(tmp_path / "live.trace")
    say(loaded)
    loaded.stop_trace()
    trace = load_trace(tmp_path / "live.trace")
    guessed = trace.predicted[trace.decoded]
    n = len(guessed)
    assert (guessed[:, 0] == NONE).all() and (guessed[:, 2:] != NONE).all()
    best = stock.predicted[stock.decoded][:n, 2:, :2, : trace.n_used]
    same = (guessed[:, 2:, :2, :, None] == best[..., None, :]).any(-1).mean()
    assert same > 0.95  # the engine keeps its routers in 8 bits
    assert Comparison(trace).case("shipped", 0.25, lookahead=1).reads > 0


def test_on_and_off_in_the_middle_of_an_answer(loaded: LoadedModel, tmp_path: Path) -> None:
    said = say(loaded)
    loaded.llama.reset()
    text = []
    for event in answer(loaded, loaded.llama.tokenize(PROMPT.encode(), special=True), OPTIONS):
        if isinstance(event, Piece):
            text.append(event.text)
            if len(text) in (5, 15):
                change = loaded.start_trace if len(text) == 5 else lambda _: loaded.stop_trace()
                thread = threading.Thread(target=change, args=(tmp_path / "middle.trace",))
                thread.start()
                thread.join()
    assert "".join(text) == said
    trace = load_trace(tmp_path / "middle.trace")
    assert trace.decoded.all() and len(trace.batch) == 10


def test_a_full_file_ends_the_recording_and_not_the_answer(loaded: LoadedModel, tmp_path: Path) -> None:
    loaded.start_trace(tmp_path / "small.trace", 2000)
    say(loaded)
    loaded.stop_trace()
    status = loaded.trace_status()
    assert status is not None and status.state == "full"
    assert (tmp_path / "small.trace").stat().st_size == status.bytes <= 2000
    assert len(load_trace(tmp_path / "small.trace").batch) == status.tokens > 0


def test_one_recording_at_a_time_and_never_over_a_file(loaded: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(TraceExistsError, match="mine"):
        loaded.start_trace(tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "precious"
    loaded.start_trace(tmp_path / "first")
    with pytest.raises(LiveTraceError, match=r"first is being recorded"):
        loaded.start_trace(tmp_path / "second")
    assert not (tmp_path / "second").exists()
    with pytest.raises(LiveTraceError, match="cannot be written"):
        loaded.stop_trace()
        loaded.start_trace(tmp_path / "first" / "below a file")


def test_no_recording_begins_that_could_fill_the_drive(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=600 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(LiveTraceError, match=r"256 MiB .* 600 MiB that are free; remove old traces"):
        loaded.start_trace(tmp_path / "large")
    assert list(tmp_path.iterdir()) == []
    loaded.start_trace(tmp_path / "small", 64 << 20)


def test_closing_the_model_completes_the_file(demo_model: Path, tmp_path: Path) -> None:
    settings = EngineSettings(context_length=256, threads=1, cache_bytes=8 << 20, lookahead=0, census=False)
    with load(open_model(demo_model), settings) as loaded:
        loaded.start_trace(tmp_path / "t")
        say(loaded)
    trace = load_trace(tmp_path / "t")
    assert trace.decoded.sum() >= TOKENS - 1 and (trace.predicted == NONE).all()


def test_a_model_that_is_not_streamed_has_nothing_to_record(demo_model: Path, tmp_path: Path) -> None:
    with (
        load(open_model(demo_model), EngineSettings(plain=True, context_length=64, threads=1)) as loaded,
        pytest.raises(LiveTraceError, match="not streamed"),
    ):
        loaded.start_trace(tmp_path / "t")


def test_a_file_cut_at_any_byte_gives_the_whole_records_before(loaded: LoadedModel, tmp_path: Path) -> None:
    """A crash, a kill or a full disk ends the file anywhere."""
    loaded.start_trace(tmp_path / "t")
    say(loaded)
    loaded.stop_trace()
    whole, data = load_trace(tmp_path / "t"), (tmp_path / "t").read_bytes()
    start = data.index(b"\n") + 1
    record_bytes = (len(data) - start) // len(whole.batch)
    for size in (start, start + 1, start + record_bytes, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:size])
        cut = load_trace(tmp_path / "cut")
        assert len(cut.batch) == (size - start) // record_bytes
        np.testing.assert_array_equal(cut.ranked, whole.ranked[: len(cut.batch)])


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"{}\n",
        b"{nonsense\n",
        b'{"format": "other"}\n',
        JournalHeader("m", (0,), 4, 0, 1).encode(),
        JournalHeader("m", (0,), 4, 2, -1).encode(),
        JournalHeader("m", (0,), 4, 2, 0).encode() + b"\1\0\0\0\1\0\0\0\7\0\1\0",
    ],
)
def test_what_is_no_journal_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(TraceError, match="record"):
        load_trace(tmp_path / "t")


class EndlessTap:
    """A tap that always has something to write."""

    tap_dropped = 0
    stopped = False

    def start_tap(self, n_used: int, distances: int, pending: int, /) -> None:
        self.stopped = False

    def stop_tap(self) -> None:
        self.stopped = True

    def take_tap(self) -> bytes:
        return b"\0" * 120


class FullDisk(io.BytesIO):
    """A file that takes nothing more."""

    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_disk_that_is_full_ends_the_recording_with_a_reason(tmp_path: Path) -> None:
    tap = EndlessTap()
    trace = LiveTrace(tap, JournalHeader("m", (0,), 4, 2, 0), tmp_path / "t")
    trace._file.close()
    trace._file = FullDisk()
    status = trace.stop()
    assert status.state == "failed" and tap.stopped
    assert status.error is not None and "No space left" in status.error
