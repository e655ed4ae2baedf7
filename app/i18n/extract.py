"""`python -m app.i18n.extract`: brings the `.ts` files of every language up to date with the texts in the code.

Texts are found by reading the code: arguments of `tr` and `trn`, and texts of declarations (see `DECLARED`). New texts
become unfinished messages, texts that are gone are removed. Each package of `app` has a file of its own.
"""

from __future__ import annotations

import ast
import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from app.files import atomic_write
from app.i18n.translator import FOLDER

ROOT = FOLDER.parent
DECLARED: dict[str, tuple[int | str, ...]] = {
    "tr": (0,),
    "trn": (0, 1),
    "ActionSpec": (1, 4, "text", "tip"),
    "Place": (1, "title"),
    "SamplingField": (1, 6, "title", "help"),
    "Gauge": (1, 2, "title", "help"),
    "Figure": (1, 2, 3),
    "Snippet": (1, 2),
    "Finding": (1,),
    "Field": ("title", "description"),
    "_pref": (1, 2, "title", "help_text", "choices"),
}
"""Name of a function or class -> which of its arguments are texts of the program (position or keyword)."""
TABLES = (
    "STATE_WORDS", "STATUS_NOTES", "MENUS", "SPEED_WORDS", "REASONS", "MEMORY_NAMES", "PARTS", "GROUPS",
    "CHANGES", "PHRASES", "NAMES",
)  # fmt: skip
"""Module-level tables whose texts are translated where they are shown."""


def texts(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """File name of a `.ts` -> {source text: singular form, or "" when it has none}."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(root.rglob("*.py")):
        area = path.relative_to(root).parts[0].removesuffix(".py")
        if not path.is_relative_to(root / "i18n"):
            for source, one in _texts_of(path):
                found.setdefault(area if (root / area).is_dir() else "window", {})[source] = one
    for source, one in _declared_elsewhere():
        found.setdefault("presets", {})[source] = one
    return {f"{area}.ts": messages for area, messages in found.items()}


def _declared_elsewhere() -> Iterator[tuple[str, str]]:
    """Texts that the window shows and others declare: the engine's settings and the presets that come with it."""
    yield from _texts_of(ROOT.parent / "engine" / "settings.py")
    for preset in json.loads((ROOT.parent / "assets" / "presets.json").read_text(encoding="utf-8"))["presets"]:
        yield preset["title"], ""
        yield preset["summary"], ""


def update(language: str) -> int:
    """Rewrite the files of `language`; returns how many messages have no translation yet."""
    folder = FOLDER / language
    folder.mkdir(exist_ok=True)
    missing = 0
    for name, wanted in texts().items():
        known = _translations(folder / name)
        missing += sum(1 for source in wanted if source not in known)
        atomic_write(folder / name, _document(language, name.removesuffix(".ts"), wanted, known).encode("utf-8"))
    return missing


def _texts_of(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield from _call_texts(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_table(node):
            yield from ((text, "") for text in _strings(node.value) if " " in text or text[:1].isupper() or "&" in text)


def _call_texts(node: ast.Call) -> Iterator[tuple[str, str]]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    places = DECLARED.get(name, ())
    if name == "trn" and len(node.args) > 1:
        one, many = _constant(node.args[0]), _constant(node.args[1])
        if one and many:
            yield many, one
        return
    arguments = [node.args[at] for at in places if isinstance(at, int) and at < len(node.args)]
    arguments += [one.value for one in node.keywords if one.arg in places]
    for argument in arguments:
        yield from ((text, "") for text in _strings(argument) if text)


def _strings(node: ast.AST | None) -> Iterator[str]:
    """Texts in an argument: itself, or the values of a dict, the elements of a tuple, both sides of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _strings(value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _strings(element)
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)
    elif isinstance(node, ast.Subscript):
        yield from _strings(node.value)


def _is_table(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id in TABLES for target in targets)


def _constant(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _translations(path: Path) -> dict[str, list[str]]:
    if not path.exists():
        return {}
    found = {}
    for message in ElementTree.parse(path).getroot().iter("message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") is None:
            forms = [form.text or "" for form in translation.findall("numerusform")] or [translation.text or ""]
            if all(forms):
                found[message.findtext("source", "")] = forms
    return found


def _document(language: str, area: str, wanted: dict[str, str], known: dict[str, list[str]]) -> str:
    root = ElementTree.Element("TS", version="2.1", language=language, sourcelanguage="en")
    context = ElementTree.SubElement(root, "context")
    ElementTree.SubElement(context, "name").text = area
    for source in sorted(wanted):
        plural = {"numerus": "yes"} if wanted[source] else {}
        message = ElementTree.SubElement(context, "message", plural)
        ElementTree.SubElement(message, "source").text = source
        if wanted[source]:
            ElementTree.SubElement(message, "comment").text = f"one: {wanted[source]}"
        translation = ElementTree.SubElement(message, "translation", {} if source in known else {"type": "unfinished"})
        forms = known.get(source, ["", ""] if wanted[source] else [""])
        if wanted[source]:
            for form in forms:
                ElementTree.SubElement(translation, "numerusform").text = form
        else:
            translation.text = forms[0]
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n'


def main() -> int:
    """Bring every language up to date; returns the exit status."""
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir() and list(path.glob("*.ts"))):
        print(f"{folder.name}: {update(folder.name)} messages to translate")
    return 0


if __name__ == "__main__":
    sys.exit(main())
