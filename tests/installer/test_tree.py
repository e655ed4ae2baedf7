"""What a Linux package holds: the same list, times and permissions whatever the building machine does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from installer.linux import appimage, tree
from installer.linux.tree import Entry
from installer.places import processor, version

NOON = 1_700_000_000


def output(program: Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], cwd="/", capture_output=True, text=True, check=True).stdout


def test_the_list_is_sorted_and_holds_programs_menu_entry_type_icons_and_licence(entries: list[Entry]) -> None:
    paths = [entry.path for entry in entries]
    assert paths == sorted(paths)
    assert len(set(paths)) == len(paths)
    for path in (
        "bin/gannet",
        "lib/gannet/gannet",
        "lib/gannet/gannet-engine",
        "share/applications/gannet.desktop",
        "share/mime/packages/gannet.xml",
        "share/icons/hicolor/256x256/apps/gannet.png",
        "share/icons/hicolor/scalable/apps/gannet.svg",
        "share/doc/gannet/copyright",
        "share/man/man1/gannet.1.gz",
    ):
        assert path in paths


def test_links_stay_links_and_only_programs_are_executable(entries: list[Entry]) -> None:
    by_path = {entry.path: entry for entry in entries}
    assert by_path["lib/gannet/_internal/libone.so.1"].link == "lib/libone.so.1"
    assert by_path["bin/gannet"].link == "../lib/gannet/gannet"
    assert {entry.path for entry in entries if entry.program} == {"lib/gannet/gannet", "lib/gannet/gannet-engine"}


def test_two_builds_write_the_same_files_with_the_same_times(entries: list[Entry], tmp_path: Path) -> None:
    before = os.umask(0o022)
    made = []
    for name, mask in (("a", 0o022), ("b", 0o077)):
        os.umask(mask)
        tree.write(entries, tmp_path / name, NOON)
        made.append(
            [
                (str(path.relative_to(tmp_path / name)), path.lstat().st_mode, path.lstat().st_mtime)
                for path in sorted((tmp_path / name).rglob("*"))
            ]
        )
    os.umask(before)
    assert made[0] == made[1]
    assert {time for _, _, time in made[0]} == {NOON}
    assert tree.listing(entries) == tree.listing(list(entries))
    assert "lib/gannet/_internal/lib/libone.so.1\t4\n" in tree.listing(entries)


def test_the_command_link_starts_the_program(entries: list[Entry], tmp_path: Path) -> None:
    tree.write(entries, tmp_path / "usr", NOON)
    assert output(tmp_path / "usr/bin/gannet", "chat") == "started chat\n"


def test_an_appdir_has_what_the_format_wants_and_starts_from_anywhere(entries: list[Entry], tmp_path: Path) -> None:
    folder = tmp_path / "Ordner mit Lücke" / "AppDir"
    appimage.lay_out(entries, folder, NOON)
    assert (folder / ".DirIcon").resolve().is_file()
    assert (folder / "gannet.desktop").read_text() == (folder / "usr/share/applications/gannet.desktop").read_text()
    assert output(folder / "AppRun", "serve", "--port", "0") == "started serve --port 0\n"


def test_an_appimages_files_get_the_given_time_though_its_tool_takes_none_from_the_environment() -> None:
    """mksquashfs ends with an error when both its options and SOURCE_DATE_EPOCH give times."""
    line = appimage.command("appimagetool", Path("AppDir"), Path("out.AppImage"), NOON)
    assert line == [
        "appimagetool",
        *("--mksquashfs-opt", "-all-time", "--mksquashfs-opt", str(NOON)),
        *("AppDir", "out.AppImage"),
    ]
    variables = appimage.environment({"SOURCE_DATE_EPOCH": "1", "PATH": "/bin"})
    assert variables == {"PATH": "/bin", "ARCH": processor(), "VERSION": version()}
