"""What a desktop reads: the menu entry and the file type, by the rules of their specifications."""

from __future__ import annotations

import configparser
import xml.etree.ElementTree as ElementTree

import app
from installer.linux import desktop
from installer.places import summary, version


def entry() -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read_string(desktop.menu_entry())
    assert parser.sections() == ["Desktop Entry"]
    return dict(parser["Desktop Entry"])


def test_the_menu_entry_has_every_required_key_and_opens_a_file() -> None:
    fields = entry()
    assert fields["Type"] == "Application"
    assert fields["Version"] in ("1.1", "1.2", "1.3", "1.4")  # those that every release's validator knows
    assert fields["Name"] == "Gannet"
    assert fields["Exec"] == "gannet %f"
    assert fields["Terminal"] == "false"
    assert fields["Comment"] == summary()


def test_a_window_finds_its_entry_and_icon_by_the_applications_id() -> None:
    assert entry()["Icon"] == entry()["StartupWMClass"] == app.APP_ID


def test_lists_end_with_a_semicolon_and_categories_are_registered_ones() -> None:
    fields = entry()
    for key in ("Categories", "Keywords", "MimeType"):
        assert fields[key].endswith(";")
    assert fields["Categories"].strip(";").split(";") == ["Science", "ArtificialIntelligence"]


def test_a_model_file_is_known_by_its_ending_and_its_first_bytes() -> None:
    names = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    root = ElementTree.fromstring(desktop.mime_package().encode())
    kind = root.find("m:mime-type", names)
    assert kind is not None
    assert entry()["MimeType"] == kind.get("type", "") + ";"
    assert [glob.get("pattern") for glob in kind.findall("m:glob", names)] == ["*.gguf"]
    match = kind.find("m:magic/m:match", names)
    assert match is not None
    assert (match.get("offset"), match.get("value")) == ("0", "GGUF")


def test_the_manual_page_names_the_version() -> None:
    assert desktop.manual_page(version()).startswith(f'.TH GANNET 1 "" "Gannet {version()}"')
