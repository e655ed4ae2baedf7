"""The conversation store: nothing a person wrote or received is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.store import Message, Sampling, Store, Tree
from app.store.schema import MIGRATIONS, VERSION, NewerStoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite"


def chat(store: Store, *texts: str) -> int:
    made = store.new_conversation()
    parent = None
    for number, text in enumerate(texts):
        parent = store.add_message(made.id, parent, "assistant" if number % 2 else "user", text).id
    return made.id


def raw(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_everything_comes_back_after_a_restart(path: Path) -> None:
    """Else closing the program loses chats."""
    store = Store(path)
    number = chat(store, "question", "answer")
    store.rename(number, "Title ü")
    store.pin(number, True)
    store.set_options(number, "Be brief.", Sampling(temperature=0.5, top_k=3))
    store.close()
    store = Store(path)
    found = store.conversations()[0]
    assert (found.title, found.pinned, found.system) == ("Title ü", True, "Be brief.")
    assert found.sampling == Sampling(temperature=0.5, top_k=3)
    assert [message.text for message in store.messages(number)] == ["question", "answer"]
    assert store.problems == []
    store.close()


def test_pieces_are_safe_within_a_second_of_a_kill(path: Path) -> None:
    """Else a crash of the program loses more than the last second of an answer."""
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from app.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "number = store.new_conversation().id\n"
        "asked = store.add_message(number, None, 'user', 'q')\n"
        "answer = store.add_message(number, asked.id, 'assistant', '', status='partial')\n"
        "for word in ('one ', 'two ', 'three'): store.journal.append(answer.id, 'text', word)\n"
        "store.journal.append(answer.id, 'thinking', 'hm')\n"
        "time.sleep(1.0)\n"
        "print('now', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"now\n"
    process.kill()
    process.wait()
    process.stdout.close()
    store = Store(path)
    answer = store.messages(1)[1]
    assert (answer.text, answer.thinking, answer.status) == ("one two three", "hm", "partial")
    store.close()


def test_appending_a_piece_does_not_wait_for_the_disk(path: Path) -> None:
    """Else the window stutters while an answer streams from a busy SSD."""
    store = Store(path)
    number = chat(store, "q")
    answer = store.add_message(number, 1, "assistant", "", status="partial")
    began = time.perf_counter()
    for _ in range(2000):
        store.journal.append(answer.id, "text", "word ")
    assert time.perf_counter() - began < 0.5
    answer.text, answer.status = "word " * 2000, "complete"
    store.finish_message(answer)
    assert store.messages(number)[1].text == "word " * 2000
    store.close()
    store = Store(path)
    assert store.messages(number)[1].text == "word " * 2000, "pieces were added a second time"
    store.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE message SET extra='{broken' WHERE id=2",
        "UPDATE message SET role='ghost' WHERE id=2",
        "UPDATE message SET text=x'00ff' WHERE id=2",
    ],
)
def test_a_broken_message_is_skipped_and_reported(path: Path, damage: str) -> None:
    """Else one bad record makes a whole chat, or the program, unusable."""
    store = Store(path)
    number = chat(store, "one", "two", "three", "four")
    store.close()
    raw(path, "DROP TRIGGER message_changed")
    raw(path, damage)
    store = Store(path)
    messages = store.messages(number)
    assert [message.text for message in messages] == ["one", "three", "four"]
    assert len(store.problems) == 1 and "message 2" in store.problems[0]
    assert [message.text for message in Tree(messages).path(4)] == ["one", "three", "four"]
    store.close()


def test_a_broken_conversation_is_skipped_and_reported(path: Path) -> None:
    """Else the list of chats does not open."""
    store = Store(path)
    chat(store, "one")
    good = chat(store, "two")
    store.close()
    raw(path, "UPDATE conversation SET sampling='[' WHERE id=1")
    store = Store(path)
    assert [one.id for one in store.conversations()] == [good]
    assert "conversation 1" in store.problems[0]
    store.close()


def test_a_damaged_file_is_put_aside_and_what_can_be_read_is_saved(path: Path) -> None:
    """Else a bad sector takes every chat."""
    store = Store(path)
    for number in range(40):
        chat(store, f"question {number} " + "x" * 3000)
    store.close()
    content = bytearray(path.read_bytes())
    content[0:16] = b"garbage garbage!"
    path.write_bytes(content)
    store = Store(path)
    assert list(path.parent.glob("*.broken-*")), "the damaged file is gone"
    assert "damaged" in store.problems[0]
    chat(store, "new")
    store.close()


def test_a_damaged_page_costs_only_what_is_on_it(path: Path) -> None:
    """Else one bad page takes every chat."""
    store = Store(path)
    for number in range(60):
        chat(store, f"question {number} " + "x" * 3000)
    store.close()
    size = sqlite3.connect(path).execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[size : 2 * size] = b"\xff" * size  # the root page of the first table
    path.write_bytes(content)
    store = Store(path)
    assert "damaged" in store.problems[0]
    assert len(store.messages(30)) == 1, "readable messages were not saved"
    store.close()


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    """Else starting an old version destroys the chats of a new one."""
    Store(path).close()
    raw(path, f"PRAGMA user_version={VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(NewerStoreError, match="newer version"):
        Store(path)
    assert path.read_bytes() == before


def test_every_older_version_is_brought_up_to_date(path: Path) -> None:
    """Else an update loses the chats."""
    for version in range(len(MIGRATIONS)):
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        for script in MIGRATIONS[:version]:
            connection.executescript(script)
        connection.execute(f"PRAGMA user_version={version}")
        connection.commit()
        connection.close()
        store = Store(path)
        chat(store, "works")
        store.close()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("boat", [1]),
        ("bo", [1]),
        ("GRÖSSE", [2]),
        ("grosse", [2]),
        ("groß", [2]),
        ("sailing boat", [1]),
        ("boat zebra", []),
        ("日本", [3]),
        ("100%", [2]),
        ('"', []),
        ("Kites", [4]),
        ("", []),
    ],
)
def test_search_finds_words_in_titles_and_messages(path: Path, words: str, found: list[int]) -> None:
    """Else an old chat cannot be found again."""
    store = Store(path)
    chat(store, "names for a boat", "A sailing boat? Petrel.")
    chat(store, "die GRÖSSE ist groß und 100% sicher")
    chat(store, "これは日本語です")
    store.rename(chat(store, "nothing"), "Kites and wind")
    assert sorted(hit.conversation for hit in store.search(words)) == found
    store.close()


def test_deleting_can_be_undone_until_the_next_start(path: Path) -> None:
    """Else a slip of the mouse destroys a chat, or a deleted chat stays on the disk."""
    store = Store(path)
    number = chat(store, "secret word")
    store.delete(number)
    assert store.conversations() == [] and store.search("secret") == []
    store.undelete(number)
    assert len(store.conversations()) == 1 and len(store.search("secret")) == 1
    store.delete(number)
    store.close()
    store = Store(path)
    store.undelete(number)
    assert store.conversations() == [] and store.messages(number) == []
    store.close()


def test_branches_can_be_walked(path: Path) -> None:
    """Else regenerating or editing loses the other version."""
    store = Store(path)
    number = chat(store, "a", "b")
    other = store.add_message(number, 1, "assistant", "c")
    later = store.add_message(number, other.id, "user", "d")
    tree = Tree(store.messages(number))
    assert [message.text for message in tree.path(None)] == ["a", "c", "d"]
    assert [message.text for message in tree.path(2)] == ["a", "b"]
    assert tree.siblings(2) == [2, other.id]
    assert tree.newest_leaf(other.id) == later.id
    store.close()


def test_a_message_whose_parent_is_lost_follows_the_one_before_it() -> None:
    """Else everything after a broken record is invisible."""
    tree = Tree([Message(1, 1, None, "user", "a"), Message(5, 1, 4, "assistant", "b")])
    assert [message.text for message in tree.path(5)] == ["a", "b"]
