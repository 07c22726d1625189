"""The form of a rule: its fields as texts, and the rule that they make."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.refusal import RefusedError
from rankscope.monitor.server.pages.moments import read_moment, write_field
from rankscope.records import record, replace
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

NUMBERS: Mapping[str, tuple[Callable[[str], float], str]] = {
    "tolerance": (float, "a number, such as 0.02"),
    "run_length": (float, "a number of periods, such as 1800"),
    "fewest": (int, "a whole number, such as 30"),
}
TEXTS = ("name", "measure", "kind", "model", "period", "needs")
FLAGS = ("is_relative", "webhook")


@record(frozen=True, slots=True, kw_only=True)
class RuleForm:
    """The fields of a form.

    Args:
        texts: What stands in the fields that hold a text, by name.
        flags: What is ticked of what is a yes or no.
        slices: The attributes that are ticked.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
    """

    texts: Mapping[str, str]
    flags: frozenset[str]
    slices: tuple[str, ...]
    wrong: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        """Give the text of a field."""
        return self.texts.get(name, "")

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        flags = {name: name in self.flags for name in FLAGS}
        return dict(self.texts) | flags | {"slices": list(self.slices), "wrong": dict(self.wrong)}


def fill_form(rule: Rule) -> RuleForm:
    """Fill a form with what a rule has.

    Examples:
        >>> form = fill_form(Rule(name="quality", measure="nDCG@5"))
        >>> form["tolerance"], form["since"], sorted(form.flags)
        ('0.02', '', ['webhook'])
    """
    texts = {name: getattr(rule, name) or "" for name in TEXTS}
    texts |= {name: f"{getattr(rule, name):g}" for name in NUMBERS}
    return RuleForm(
        texts=texts | {"since": write_field(rule.since)},
        flags=frozenset(name for name in FLAGS if getattr(rule, name)),
        slices=rule.slices,
        wrong={},
    )


def new_form(measure: str) -> RuleForm:
    """Give the form of a rule that has no name yet, with what is left out in a rule."""
    form = fill_form(Rule(name="new rule", measure=measure))
    return replace(form, texts={**form.texts, "name": ""})


def read_form(fields: Mapping[str, tuple[str, ...]]) -> tuple[Rule | None, RuleForm]:
    """Make a rule of what stands in the fields; no rule, and why, where they make none.

    Args:
        fields: The fields, by name, each as often as it was given.
    """
    texts = {name: fields.get(name, ("",))[0].strip() for name in (*TEXTS, *NUMBERS, "since")}
    flags = frozenset(name for name in FLAGS if name in fields)
    slices = tuple(fields.get("slices", ()))
    said: dict[str, Any] = {name: texts[name] for name in TEXTS if texts[name]}
    said |= {name: name in flags for name in FLAGS} | {"slices": slices}
    wrong = {}
    for name, (read, expected) in NUMBERS.items():
        try:
            said[name] = read(texts[name])
        except ValueError:
            wrong[name] = f"expected {expected}"
    try:
        said["since"] = read_moment(texts["since"])
    except RefusedError:
        wrong["since"] = "expected a time, such as 2026-11-21T18:00, in UTC, or nothing"
    for name in ("name", "measure"):
        if not texts[name]:
            wrong[name] = "expected a text"
    rule = None
    if not wrong:
        try:
            rule = Rule(**said)
        except UsageError as error:
            wrong |= place_problem(error)
    return rule, RuleForm(texts=texts, flags=flags, slices=slices, wrong=wrong)


def place_problem(error: UsageError) -> dict[str, str]:
    """Say beside which field a problem belongs; the message of a rule begins with its name."""
    field, _, message = error.message.partition(": ")
    known = {*TEXTS, *NUMBERS, "since", "slices"}
    return {field: show(message)} if field in known else {"": show(error.message)}
