"""The engine's settings as the window shows them, read from the JSON schema that the engine serves. Pure.

The engine declares every setting; nothing about one is written down here, so a setting added there appears in the
window without a change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.i18n import tr

GROUPS: tuple[tuple[str, str], ...] = (
    ("memory", "Memory"),
    ("speed", "Speed"),
    ("compute", "Computing"),
    ("answer", "Answers"),
)
"""Groups in the order of the form, with their source texts for `tr`; others follow under their own name."""


@dataclass(frozen=True)
class SettingSpec:
    """One setting.

    Attributes:
        kind: "integer", "number", "boolean" or "string".
        automatic: whether it may be left to the engine (the value None).
        minimum, maximum: inclusive bounds, None where there is none.
        live: takes effect without loading the model again.
    """

    name: str
    title: str
    help: str
    unit: str
    group: str
    kind: str
    default: Any
    automatic: bool
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    live: bool

    def problem(self, value: Any) -> str:
        """Why `value` cannot be used, as the start of a sentence without the title; "" when it can."""
        if value is None:
            return "" if self.automatic else tr("needs a value")
        if self.choices:
            return "" if value in self.choices else tr("is none of: {choices}").format(choices=", ".join(self.choices))
        if self.kind in ("integer", "number"):
            return self._number_problem(value)
        wanted: type = bool if self.kind == "boolean" else str
        return "" if isinstance(value, wanted) else tr("has the wrong kind of value")

    def _number_problem(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return tr("is not a number")
        if self.kind == "integer" and value != int(value):
            return tr("is not a whole number")
        if self.minimum is not None and value < self.minimum:
            return tr("is below {limit}").format(limit=f"{self.minimum:g}")
        if self.maximum is not None and value > self.maximum:
            return tr("is above {limit}").format(limit=f"{self.maximum:g}")
        return ""


def read_schema(schema: Mapping[str, Any]) -> tuple[SettingSpec, ...]:
    """Every setting of the schema in its order; one that cannot be understood is left out rather than the page."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    found = (_spec(name, item, schema) for name, item in properties.items() if isinstance(item, Mapping))
    return tuple(spec for spec in found if spec is not None)


def grouped(specs: tuple[SettingSpec, ...]) -> tuple[tuple[str, tuple[SettingSpec, ...]], ...]:
    """Settings by group, groups in the order of the form: (group's source text, settings)."""
    titles = dict(GROUPS)
    names = [*titles, *dict.fromkeys(spec.group for spec in specs if spec.group not in titles)]
    members = ((name, tuple(spec for spec in specs if spec.group == name)) for name in names)
    return tuple((titles.get(name, name.capitalize()), group) for name, group in members if group)


def _spec(name: str, item: Mapping[str, Any], schema: Mapping[str, Any]) -> SettingSpec | None:
    forms = [_resolved(form, schema) for form in item.get("anyOf", [item])]
    automatic = any(form.get("type") == "null" for form in forms)
    forms = [form for form in forms if form.get("type") != "null"]
    if len(forms) != 1 or forms[0].get("type", "string") not in ("integer", "number", "boolean", "string"):
        return None
    form = forms[0]
    return SettingSpec(
        name=name,
        title=str(item.get("title") or name.replace("_", " ").capitalize()),
        help=str(item.get("description", "")),
        unit=str(item.get("unit", "")),
        group=str(item.get("group", "other")),
        kind=str(form.get("type", "string")),
        default=item.get("default"),
        automatic=automatic,
        minimum=_bound(form, "minimum", "exclusiveMinimum", 1),
        maximum=_bound(form, "maximum", "exclusiveMaximum", -1),
        choices=tuple(map(str, form.get("enum", ()))),
        live=bool(item.get("live", False)),
    )


def _resolved(form: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(form.get("$ref", "")).rpartition("/")[2]
    found = schema.get("$defs", {}).get(name, form) if name else form
    return found if isinstance(found, Mapping) else form


def _bound(form: Mapping[str, Any], inclusive: str, exclusive: str, inward: int) -> float | None:
    if inclusive in form:
        return float(form[inclusive])
    if exclusive not in form:
        return None
    # an open bound of a whole number is the next one; of a real number, the smallest step a form offers
    step = 1.0 if form.get("type") == "integer" else 0.01
    return float(form[exclusive]) + inward * step
