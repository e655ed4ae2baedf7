"""Saved conversations: what is kept, what goes first, and that a damaged file harms nobody."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import numpy as np
import pytest

from engine.sessions import session_file
from engine.sessions.reuse import Held, Tokens, best, common_prefix, usable
from engine.sessions.session_store import SessionStore


def tokens(*ids: int) -> Tokens:
    return np.array(ids, dtype=np.int32)


def numbered(start: int, length: int) -> Tokens:
    return np.arange(start, start + length, dtype=np.int32)


def test_common_prefix() -> None:
    assert common_prefix(tokens(1, 2, 3), tokens(1, 2, 4)) == 2
    assert common_prefix(tokens(1, 2), tokens(1, 2, 4)) == 2
    assert common_prefix(tokens(), tokens(1)) == 0


def test_the_last_prompt_token_is_always_computed() -> None:
    prompt = tokens(1, 2, 3)
    assert usable(prompt, Held("k", tokens(1, 2, 3, 4), cuttable=True)) == 2
    assert usable(prompt, Held("k", tokens(1, 2, 9), cuttable=True)) == 2


def test_a_state_that_cannot_be_cut_is_used_whole_or_not_at_all() -> None:
    prompt = tokens(1, 2, 3)
    assert usable(prompt, Held("k", tokens(1, 2), cuttable=False)) == 2
    assert usable(prompt, Held("k", tokens(1, 2, 3), cuttable=False)) == 0
    assert usable(prompt, Held("k", tokens(1, 9), cuttable=False)) == 0


def test_the_context_stays_unless_a_saved_state_spares_clearly_more() -> None:
    prompt = numbered(0, 500)
    live = Held("live", numbered(0, 100), cuttable=True)
    near, far = Held("near", numbered(0, 110), True), Held("far", numbered(0, 400), True)
    assert best(prompt, live, [near]) == (live, 100)
    assert best(prompt, live, [near, far]) == (far, 400)


def kept(store: SessionStore) -> list[int]:
    return [int(held.tokens[0]) for held in store.held()]


def test_the_least_recently_used_goes_first_and_only_then() -> None:
    store = SessionStore(None, "model", memory_bytes=300, disk_bytes=0)
    for start in (100, 200, 300):
        store.put(numbered(start, 10), b"x" * 100, True)
    assert store.get(store.held()[0].key) == b"x" * 100
    store.put(numbered(400, 10), b"x" * 100, True)
    assert kept(store) == [300, 100, 400] and store.memory_used == 300


def test_a_longer_state_of_the_same_conversation_replaces_the_shorter() -> None:
    store = SessionStore(None, "model", 10_000, 0)
    store.put(numbered(0, 10), b"short", True)
    store.put(numbered(0, 20), b"long", True)
    assert len(store) == 1
    store.put(numbered(0, 30), b"checkpoint", False)
    store.put(numbered(0, 40), b"checkpoint", False)
    store.put(numbered(0, 40), b"the same again", False)
    assert len(store) == 3, "checkpoints of a memory that cannot be cut replace nothing"


def test_states_go_to_disk_and_come_back_in_another_run(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "model", 250, 10_000)
    for start in (100, 200, 300, 400):
        store.put(numbered(start, 10), bytes([start // 100]) * 100, True)
    store.close()
    assert store.memory_used <= 250 and len(store) == 4
    again = SessionStore(tmp_path, "model", 250, 10_000)
    assert sorted(kept(again)) == [100, 200, 300, 400]
    for held in again.held():
        assert again.get(held.key) == bytes([int(held.tokens[0]) // 100]) * 100
    other = SessionStore(tmp_path, "another model", 250, 10_000)
    assert other.held() == []
    other.close()
    again.close()


def test_the_disk_is_bounded(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "model", 10_000, 2_000)
    for start in range(0, 1000, 100):
        store.put(numbered(start, 10), b"x" * 500, True)
        store.persist()
    store.close()
    assert sum(path.stat().st_size for path in tmp_path.glob("*.session")) <= 2_500


@pytest.mark.parametrize("damage", ["cut", "flipped", "facts", "magic", "empty", "sizes"])
def test_a_damaged_file_is_put_aside_and_said(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    store = SessionStore(tmp_path, "model", 10_000, 10_000)
    store.put(numbered(1, 50), b"state" * 100, True)
    store.close()
    (path,) = tmp_path.glob("*.session")
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[-10:]
    elif damage == "flipped":
        content[-10] ^= 1
    elif damage == "facts":
        content[20:24] = b"\xff\x00{}"
    elif damage == "magic":
        content[0] = 0
    elif damage == "empty":
        content.clear()
    else:
        content = bytearray(bytes(content).replace(b'"token_count": 50', b'"token_count": -9'))
    path.write_bytes(content)
    again = SessionStore(tmp_path, "model", 10_000, 10_000)
    for held in again.held():
        assert again.get(held.key) is None
    assert len(again) == 0 and (tmp_path / "damaged" / path.name).exists()
    assert "put aside" in caplog.text
    again.close()


def test_an_interrupted_write_leaves_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "x.session.part").write_bytes(b"half")
    SessionStore(tmp_path, "model", 10, 10).close()
    assert not list(tmp_path.iterdir())


def test_on_a_full_disk_conversations_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session_file, "write", full)
    store = SessionStore(tmp_path, "model", 250, 10_000)
    for start in (100, 200, 300, 400):
        store.put(numbered(start, 10), b"x" * 100, True)
    store.persist()
    store.close()
    assert kept(store) == [300, 400] and store.get(store.held()[0].key) == b"x" * 100
    assert not list(tmp_path.glob("*.session"))
    assert not [thread for thread in threading.enumerate() if thread.name == "session-writer"]
