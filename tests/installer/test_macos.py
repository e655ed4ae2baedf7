"""The macOS package, as far as it can be tried without a Mac: data, settings and the order of commands."""

from __future__ import annotations

import plistlib
import runpy
from pathlib import Path

import pytest

from app.i18n.translator import available_languages
from installer.macos import bundle, dmg, signing

KEYS = {"MACOS_IDENTITY": "Developer ID", "MACOS_APPLE_ID": "a@b", "MACOS_TEAM_ID": "T", "MACOS_PASSWORD": "p"}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """An application bundle with a program, a library deep inside, a text and a link."""
    contents = tmp_path / bundle.APP / "Contents"
    (contents / "MacOS").mkdir(parents=True)
    (contents / "Frameworks" / "lib").mkdir(parents=True)
    (contents / "MacOS" / "gannet").write_bytes(b"\xcf\xfa\xed\xfe....")
    (contents / "Frameworks" / "lib" / "x.dylib").write_bytes(b"")
    (contents / "Info.plist").write_bytes(b"<?xml")
    (contents / "MacOS" / "link.dylib").symlink_to(contents / "Frameworks" / "lib" / "x.dylib")
    return contents.parent


def test_the_plist_survives_being_written_and_offers_gannet_for_gguf_files() -> None:
    plist = plistlib.loads(plistlib.dumps(bundle.info_plist("0.1.0rc1")))
    assert plist["CFBundleShortVersionString"] == plist["CFBundleVersion"] == "0.1.0"
    (document,), (kind,) = plist["CFBundleDocumentTypes"], plist["UTImportedTypeDeclarations"]
    assert document["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"] == ["gguf"]
    with pytest.raises(ValueError, match="no version"):
        bundle.info_plist("no version")


def test_the_languages_of_the_bundle_are_those_of_the_window() -> None:
    assert set(bundle.LANGUAGES) == set(available_languages())


def test_dmgbuild_can_execute_the_settings(app: Path) -> None:
    settings = runpy.run_path(str(dmg.SETTINGS), {"defines": {"app": str(app)}})
    assert settings["files"] == [str(app)]
    assert set(settings["icon_locations"]) == {bundle.APP, "Applications"}
    assert settings["symlinks"] == {"Applications": "/Applications"}


def test_without_keys_the_image_is_made_unsigned_and_that_is_said(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    commands: list[list[str]] = []
    dmg.build(app, tmp_path / "out" / "gannet.dmg", "0.1.0", commands.append)
    assert [command[1:3] for command in commands] == [["-m", "dmgbuild"]]
    assert commands[0][-2:] == ["Gannet 0.1.0", str(tmp_path / "out" / "gannet.dmg")]
    assert "not signed" in capsys.readouterr().err


def test_with_keys_all_code_is_signed_before_the_whole_and_the_image_notarised(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    commands: list[list[str]] = []
    image = tmp_path / "gannet.dmg"
    dmg.build(app, image, "0.1.0", commands.append)
    signed = [Path(command[-1]).name for command in commands if command[0] == "codesign" and "--sign" in command]
    assert signed == ["x.dylib", "gannet", bundle.APP, "gannet.dmg"]
    assert [command[1] for command in commands if command[0] == "xcrun"] == ["notarytool", "stapler"]
    assert commands.index(next(c for c in commands if "dmgbuild" in c)) > commands.index(
        next(c for c in commands if "--verify" in c)
    )
    assert capsys.readouterr().err == ""


def test_one_missing_key_is_no_half_notarisation(app: Path) -> None:
    for missing in KEYS:
        left = {name: value for name, value in KEYS.items() if name != missing}
        commands: list[list[str]] = []
        assert not signing.notarise(app, left, commands.append)
        assert commands == []


def test_the_entitlements_are_a_plist() -> None:
    assert plistlib.loads(signing.ENTITLEMENTS.read_bytes()) == {
        "com.apple.security.cs.allow-unsigned-executable-memory": True
    }
