"""Command-line arguments: every engine setting as an option, made from its declaration; usage errors in one line."""

from __future__ import annotations

import argparse
import typing
from pathlib import Path
from typing import Any, NoReturn

from pydantic.fields import FieldInfo

from engine.errors import SettingsError
from engine.gguf import ModelFiles
from engine.settings import EngineSettings, make_settings, setting_extra
from engine.sizes import Size, parse_size


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are `GannetError`s."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise SettingsError(f"{message}; see `{self.prog} --help`")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model argument."""
    parser.add_argument("model", type=Path, help="a GGUF file, the first part of a split one, or its folder")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for every setting of the engine; what is not given stays at its default."""
    for name, field in EngineSettings.model_fields.items():
        option = setting_extra(name)["option"]
        default = "" if field.default is None else f" [{_shown(field.default)}]"
        text = f"{field.description}{default}".replace("%", "%%")
        keywords: dict[str, Any] = {"dest": f"setting_{name}", "default": None, "help": text}
        if field.annotation is bool:
            keywords["action"] = argparse.BooleanOptionalAction
        else:
            keywords |= {"type": _reader(name, field), "metavar": _metavar(name, field)}
        parser.add_argument(option, **keywords)


def settings_from(args: argparse.Namespace, files: ModelFiles | None) -> EngineSettings:
    """The settings given on the command line; shares of the expert bytes need `files`. Raises `SettingsError`."""
    given = {name: getattr(args, f"setting_{name}") for name in EngineSettings.model_fields}
    expert_bytes = sum(expert.tensor.nbytes for expert in files.experts()) if files is not None else 0
    return make_settings(
        {
            name: value.resolve(expert_bytes) if isinstance(value, Size) else value
            for name, value in given.items()
            if value is not None
        }
    )


def _shown(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _reader(name: str, field: FieldInfo) -> Any:
    if setting_extra(name)["unit"] == "bytes":
        return _read_size
    kinds = [kind for kind in (typing.get_args(field.annotation) or (field.annotation,)) if kind is not type(None)]
    return kinds[0]


def _read_size(text: str) -> Size:
    try:
        return parse_size(text)
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _metavar(name: str, field: FieldInfo) -> str:
    unit = setting_extra(name)["unit"]
    return "SIZE" if unit == "bytes" else (unit or "N").upper()
