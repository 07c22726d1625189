"""The kinds of alert rules, and what people can set of them.

`KINDS` is the only list of kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args, get_origin

from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.data.run import KIND as DATA
from rankscope.monitor.rules.drop.run import KIND as DROP
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.run import KIND as EARLY
from rankscope.monitor.rules.limit import KIND as LIMIT
from rankscope.monitor.rules.rule import Rule, register
from rankscope.monitor.rules.run import Kind, Problem, Progress
from rankscope.monitor.rules.settings import Setting
from rankscope.monitor.store.records import RuleRow

Control: TypeAlias = Literal["text", "number", "integer", "choice", "flag", "boxes", "list"]


KINDS: Mapping[str, Kind] = {register(kind.record): kind for kind in (DROP, LIMIT, DATA, EARLY)}
PROBLEMS: Mapping[str, Problem] = {
    name: problem for kind in KINDS.values() for name, problem in kind.problems.items()
}
"""The kinds of incidents."""
DEFAULTS: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (DataRule(name="data", kind="data"), EarlyRule(name="early", kind="early"))
}
"""The rules that every project gets, by name, unless somebody removes or changes them."""
__all__ = ["DEFAULTS", "KINDS", "PROBLEMS", "Rule", "find_kind", "read_progress"]


def find_kind(row: RuleRow) -> Kind:
    """Return the kind of a stored rule."""
    return KINDS[Rule.from_json(row.rule).kind]


def read_progress(row: RuleRow) -> Progress:
    """Return what a stored rule has looked at."""
    return find_kind(row).read_progress(row.progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleField:
    """A field of rules.

    Args:
        name: Its name.
        kinds: The kinds of rules that have it.
        setting: How people set it.
        type: What values it takes, without what else they have to be.
        default: Its default; `None` if a rule needs a value, or no value is one.
        is_required: Whether a rule needs a value.
    """

    name: str
    kinds: tuple[str, ...]
    setting: Setting
    type: Any
    default: Any
    is_required: bool

    @property
    def label(self) -> str:
        """Its label in a form."""
        return self.setting.label or self.name.capitalize()

    @property
    def metavar(self) -> str:
        """What stands for its value in the help of its option."""
        names = {"number": "N", "integer": "N", "choice": self.name.upper()}
        return self.setting.metavar or names.get(self.control, "NAME")

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen, in words of the program; empty where anything can."""
        inner = get_args(self.type)[0] if get_origin(self.type) is tuple else self.type
        return get_args(inner) if get_origin(inner) is Literal else ()

    @property
    def control(self) -> Control:
        """How it is entered."""
        if get_origin(self.type) is tuple:
            return "boxes" if self.choices or self.setting.source else "list"
        if self.choices or self.setting.source == "measures":
            return "choice"
        controls: dict[Any, Control] = {bool: "flag", int: "integer", float: "number"}
        return controls.get(self.type, "text")


def _find_setting(kind: Kind, name: str) -> Setting:
    metadata = kind.record.model_fields[name].metadata
    return next(each for each in metadata if isinstance(each, Setting))


def _list_fields() -> dict[str, RuleField]:
    """Return the fields of all kinds by name: the name, then those that only some kinds have."""
    fields: dict[str, RuleField] = {}
    for name in dict.fromkeys(name for kind in KINDS.values() for name in kind.record.model_fields):
        if name == "kind":
            continue
        having = {at: kind for at, kind in KINDS.items() if name in kind.record.model_fields}
        field = next(iter(having.values())).record.model_fields[name]
        settings = [_find_setting(kind, name) for kind in having.values()]
        texts = dict.fromkeys(each.text for each in settings)
        words = dict(pair for each in settings for pair in each.words)
        inner = [each for each in get_args(field.annotation) if each is not type(None)]
        is_required = field.is_required() or name == "name"
        is_optional = type(None) in get_args(field.annotation)
        fields[name] = RuleField(
            name=name,
            kinds=tuple(having),
            setting=replace(settings[0], text="; ".join(texts), words=tuple(words.items())),
            type=inner[0] if is_optional else field.annotation,
            default=None if is_required else field.default,
            is_required=is_required,
        )
    names = sorted(fields, key=lambda name: (name != "name", fields[name].kinds == tuple(KINDS)))
    return {name: fields[name] for name in names}


FIELDS: Mapping[str, RuleField] = _list_fields()
"""What people can set of rules, but for the kind."""
