"""install.sh and uninstall.sh: for one user, in any folder, and gone without a trace."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from installer.linux import run_file
from installer.linux.tree import Entry
from installer.places import version

FOLDERS = ["plain", "Größe und Lücke", "東京/家", 'a"b$c`d\\e%f']


def run(script: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C"}
    return subprocess.run(["sh", script, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def stage(entries: list[Entry], tmp_path: Path) -> Path:
    run_file.stage(entries, tmp_path / "stage", 1_700_000_000)
    return tmp_path / "stage"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / ".local/share/Gannet").mkdir(parents=True)
    (folder / ".local/share/Gannet/conversations.sqlite").write_text("what the user said")
    return folder


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("name", FOLDERS)
def test_it_installs_into_any_folder_and_leaves_nothing_behind(stage: Path, home: Path, name: str) -> None:
    before = below(home)
    prefix = home / name
    done = run(stage / "install.sh", "--prefix", str(prefix), home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert version() in done.stdout
    assert run(prefix / "bin/gannet", "chat", home=home).stdout == "started chat\n"
    assert (prefix / "share/icons/hicolor/64x64/apps/gannet.png").is_file()
    gone = run(prefix / "lib/gannet/uninstall", home=home)
    assert (gone.returncode, gone.stderr) == (0, "")
    assert [path for path in below(home) if path not in before] == [
        str(Path(*Path(name).parts[:depth])) for depth in range(1, len(Path(name).parts) + 1)
    ]


def test_the_menu_entry_quotes_the_program_as_its_specification_wants(stage: Path, home: Path) -> None:
    prefix = home / 'a"b$c`d\\e%f'
    run(stage / "install.sh", "--prefix", str(prefix), home=home)
    line = next(
        line
        for line in (prefix / "share/applications/gannet.desktop").read_text("utf-8").splitlines()
        if line.startswith("Exec=")
    )
    value = line.removeprefix("Exec=").replace("\\\\", "\\")  # a string's own escaping comes first
    quoted, _, field = value.rpartition(" ")
    assert field == "%f"
    inside = quoted[1:-1]
    for mark in '\\"`$':
        inside = inside.replace("\\" + mark, mark)
    assert inside.replace("%%", "%") == str(prefix / "lib/gannet/gannet")


def test_by_default_it_goes_to_the_users_own_folder_and_the_users_data_stay(stage: Path, home: Path) -> None:
    before = below(home)
    assert run(stage / "install.sh", home=home).returncode == 0
    assert (home / ".local/bin/gannet").is_symlink()
    run(home / ".local/lib/gannet/uninstall", home=home)
    assert below(home) == before


def test_an_older_version_is_replaced_and_a_newer_one_is_not(stage: Path, home: Path) -> None:
    run(stage / "install.sh", home=home)
    program = home / ".local/lib/gannet"
    (program / "version").write_text("0.0.9\n")
    (program / "old-file").write_text("of the older version")
    assert run(stage / "install.sh", home=home).returncode == 0
    assert not (program / "old-file").exists()
    (program / "version").write_text("99.0\n")
    refused = run(stage / "install.sh", home=home)
    assert refused.returncode == 3
    assert "99.0 is installed, which is newer" in refused.stderr
    assert (program / "version").read_text() == "99.0\n"


def test_a_folder_that_cannot_be_made_is_named_in_one_line(stage: Path, home: Path) -> None:
    (home / "file").write_text("")
    failed = run(stage / "install.sh", "--prefix", str(home / "file" / "below"), home=home)
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert str(home / "file" / "below") in failed.stderr


def test_the_archive_is_made_with_one_order_owner_and_time() -> None:
    line = run_file.command(Path("stage"), Path("out.run"), 1_700_000_000)
    assert "--sort=name --owner=0 --group=0 --numeric-owner --mtime=@1700000000" in line
    assert line[line.index("--packaging-date") + 1] == "2023-11-14 22:13:20 UTC"
    assert line[-2:] == [f"Gannet {version()}", "./install.sh"]
