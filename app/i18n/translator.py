"""Looks texts up in the chosen language; no Qt object has to live for a text to be translated."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from PySide6.QtCore import QLocale

FOLDER = Path(__file__).parent
PSEUDO = "pseudo"
"""A test language: every text longer and accented, so that a text without `tr` or a box that is too small shows."""

_ACCENTS = str.maketrans("aeiouyAEIOUYcnsz", "àéîõüýÀÉÎÕÜÝçñšž")
_GERMAN_MARKS = str.maketrans(",.", ".,")
_catalogue: dict[str, list[str]] = {}
_language = "en"


def available_languages() -> dict[str, str]:
    """Language code -> its own name, for the settings page."""
    return {"en": "English", "de": "Deutsch"}


def choose_language(code: str = "") -> str:
    """Use `code` ("" = the system's language, English when there is no translation). Returns the code in use."""
    global _catalogue, _language
    wanted = code or QLocale.system().name().split("_")[0].lower()
    _language = wanted if wanted == PSEUDO or wanted in available_languages() else "en"
    _catalogue = load(_language) if (FOLDER / _language).is_dir() else {}
    return _language


def current_language() -> str:
    """Code of the language in use."""
    return _language


def load(code: str) -> dict[str, list[str]]:
    """Source text -> translations (one, or one per plural form) of every finished message of language `code`."""
    found: dict[str, list[str]] = {}
    for path in sorted((FOLDER / code).glob("*.ts")):
        for message in ElementTree.parse(path).getroot().iter("message"):
            forms = _finished_forms(message)
            if forms:
                found[message.findtext("source", "")] = forms
    return found


def number(value: float, digits: int = 0) -> str:
    """`value` with `digits` decimals and the chosen language's marks: 1,024 and 4.6, in German 1.024 and 4,6."""
    text = f"{value:,.{digits}f}"
    return text.translate(_GERMAN_MARKS) if _language == "de" else text


def tr(text: str) -> str:
    """`text` in the chosen language. Fill in `{names}` with `str.format` after translating."""
    if _language == PSEUDO:
        return _pseudo(text)
    forms = _catalogue.get(text)
    return forms[0] if forms else text


def trn(one: str, many: str, count: int) -> str:
    """Plural text for `count`; `{n}` in it becomes the number. English source in both forms, key is `many`."""
    forms = _catalogue.get(many)
    if _language == PSEUDO:
        chosen = _pseudo(one if count == 1 else many)
    elif forms and len(forms) > 1:
        chosen = forms[0] if count == 1 else forms[1]
    else:
        chosen = one if count == 1 else many
    return chosen.replace("{n}", str(count))


def _finished_forms(message: ElementTree.Element) -> list[str]:
    translation = message.find("translation")
    if translation is None or translation.get("type") in ("unfinished", "vanished", "obsolete"):
        return []
    forms = [form.text or "" for form in translation.findall("numerusform")]
    return forms or ([translation.text] if translation.text else [])


def _pseudo(text: str) -> str:
    parts = text.split("{")
    head = parts[0].translate(_ACCENTS)
    rest = ["{" + part[: part.find("}") + 1] + part[part.find("}") + 1 :].translate(_ACCENTS) for part in parts[1:]]
    body = head + "".join(rest)
    return f"[{body}{'·' * max(1, len(text) // 3)}]"
