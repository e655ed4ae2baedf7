"""The Windows installer: what its lists of files and its versions are made of. `installer.windows.trial` runs it."""

from __future__ import annotations

from pathlib import Path

from installer.windows import nsis


def test_the_installer_lists_every_file_in_a_fixed_order_and_removes_just_those(tmp_path: Path) -> None:
    for name in ("gannet.exe", "_internal/b/two.dll", "_internal/a.dll", "_internal/$x/ü.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    files = nsis.bundle_files(tmp_path)
    assert nsis.install_lines(tmp_path, files) == [
        r'SetOutPath "$INSTDIR\_internal\$$x"',
        f'File "{tmp_path}/_internal/$x/ü.txt"',
        r'SetOutPath "$INSTDIR\_internal"',
        f'File "{tmp_path}/_internal/a.dll"',
        r'SetOutPath "$INSTDIR\_internal\b"',
        f'File "{tmp_path}/_internal/b/two.dll"',
        'SetOutPath "$INSTDIR"',
        f'File "{tmp_path}/gannet.exe"',
    ]
    assert nsis.remove_lines(files) == [
        r'Delete "$INSTDIR\_internal\$$x\ü.txt"',
        r'Delete "$INSTDIR\_internal\a.dll"',
        r'Delete "$INSTDIR\_internal\b\two.dll"',
        r'Delete "$INSTDIR\gannet.exe"',
        r'RMDir "$INSTDIR\_internal\$$x"',
        r'RMDir "$INSTDIR\_internal\b"',
        r'RMDir "$INSTDIR\_internal"',
    ]


def test_windows_gets_four_numbers_of_any_version() -> None:
    assert [nsis.four_numbers(v) for v in ("0.1.0", "1.2.3.4", "2.0rc1")] == ["0.1.0.0", "1.2.3.4", "2.0.0.0"]


def test_every_definition_that_the_script_uses_is_given(tmp_path: Path) -> None:
    (tmp_path / "gannet.exe").write_bytes(b"x" * 1025)
    given = nsis.definitions(tmp_path, tmp_path, tmp_path / "out.exe", "0.1.0", Path("g.ico"), "amd64-unicode")
    names = [option.partition("=")[0].removeprefix("-D") for option in given]
    header = nsis.SCRIPT.read_text("utf-8").split("Unicode true")[0]
    assert all(name in header for name in names)
    assert "-DSIZE_KB=2" in given


def test_the_uninstaller_removes_no_folder_of_unknown_contents_but_the_users_data_it_was_asked_to() -> None:
    wholesale = [line.strip() for line in nsis.SCRIPT.read_text("utf-8").splitlines() if "RMDir /r" in line]
    assert wholesale == [r'RMDir /r "$LOCALAPPDATA\${NAME}\$1"', r'RMDir /r "$LOCALAPPDATA\${NAME}\models"']
