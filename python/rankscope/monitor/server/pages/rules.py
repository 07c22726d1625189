"""The rules page: the rules, and the streams that they check."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import quote

from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.drop.progress import list_warnings
from rankscope.monitor.rules.kinds import FIELDS, KINDS, Rule, RuleField
from rankscope.monitor.rules.settings import BETWEEN
from rankscope.monitor.rules.state import RuleState
from rankscope.monitor.rules.stream import Stream
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.groups import Group, group_incidents, write_multiple
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.page import (
    EditForm,
    FormState,
    Page,
    list_states,
    read_configuration,
    read_hours,
)
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.shapes import OneOf, make_record
from rankscope.monitor.store.folding import OTHER


def view_rules(monitor: Monitor) -> Mapping[str, object]:
    """Look at the rules of a project."""
    configuration = read_configuration(monitor)
    rules = () if configuration is None else list_states(monitor)
    return {"configuration": configuration, "now": monitor.clock(), "rules": rules}


def weigh(stream: Stream) -> Mapping[str, object] | None:
    """Return how much evidence of a drop a stream has, for a bar; `None` if it collects none.

    It is the share of the bar that is filled, where the alert level lies on it, from 0 to 100, and
    the evidence as a multiple of the alert level, such as `3.3×`.
    """
    if stream.detector is None or stream.needed is None or stream.needed <= 0:
        return None
    evidence = stream.log_evidence
    most = max(stream.needed * 1.25, evidence)
    return {
        "share": max(evidence, 0.0) / most if math.isfinite(evidence) else 0.0,
        "needed": round(100 * stream.needed / most, 2),
        "text": write_multiple(evidence - stream.needed),
    }


RULES = Page(
    path="/rules",
    place=5,
    here="Rules",
    template="rules.html.j2",
    summary="The rules, and the state of each slice they check.",
    view=lambda monitor, _call: view_rules(monitor),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleView:
    """A rule.

    Args:
        configuration: How the project is measured.
        models: The models that were shown.
        now: As of when, in microseconds since 1970 in UTC.
        state: How it stands; `None` for one that is to be made.
        groups: The incidents that it opened, by cause, those that need most care first.
        form: The form.
    """

    configuration: Configuration
    models: tuple[str, ...]
    now: int
    state: RuleState | None
    groups: tuple[Group, ...]
    form: FormState

    @property
    def warnings(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What makes its evidence doubtful, each with the names of the slices it is about."""
        about: dict[str, list[str]] = {}
        for stream in () if self.state is None else self.state.streams:
            for warning in list_warnings(stream):
                about.setdefault(warning, []).append(stream.name)
        return tuple((warning, tuple(names)) for warning, names in about.items())

    @property
    def having(self) -> dict[str, tuple[str, ...]]:
        """By field that not all kinds have, the kinds that have it."""
        return {name: each.kinds for name, each in FIELDS.items() if each.kinds != tuple(KINDS)}

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """By field, what it can be, and what that is called."""
        names = [measure.name for measure in self.configuration.definition.measures]
        pairs = [BETWEEN.join(pair) for pair in self.configuration.all_pairs]
        sources = {
            "measures": [*zip(names, names, strict=True), *FIELDS["measure"].setting.words],
            "dimensions": [(name, name) for name in (*self.configuration.attributes, *pairs)],
        }
        return {
            name: sources.get(field.setting.source)
            or [(each, dict(field.setting.words).get(each, each)) for each in field.choices]
            for name, field in FIELDS.items()
        }


def view_rule(monitor: Monitor, name: str | None, form: FormState | None = None) -> RuleView:
    """Look at a rule."""
    configuration = monitor.configuration
    state = None
    if name is not None:
        state = next((one for one in monitor.check() if one.rule.name == name), None)
        if state is None:
            raise UsageError(
                "there is no rule with this name",
                hint="see the list of rules under Rules",
                code="no_rule",
            )
    if form is None:
        form = new_form(monitor.measures[-1]) if state is None else fill_form(state.rule)
    return RuleView(
        configuration=configuration,
        models=tuple(
            dict.fromkeys(
                version.model for version in monitor.versions() if version.model not in {"", OTHER}
            )
        ),
        now=monitor.clock(),
        state=state,
        groups=() if name is None else group_incidents(read_incidents(monitor, name)),
        form=form,
    )


NOTHING = "none"
"""What stands in a field of several names for no name at all."""
READ: Mapping[str, tuple[Callable[[str], float], str]] = {
    "number": (float, "a number"),
    "integer": (int, "a whole number"),
}


def fill_form(rule: Rule) -> FormState:
    """Fill a form with what a rule has, and with defaults for what only others have.

    Examples:
        >>> form = fill_form(Rule(name="quality", measure="nDCG@5"))
        >>> form["tolerance"], form["is_relative"], form["model"]
        ('0.02', '', '')
    """
    said = rule.to_dict()
    texts = {name: _write(field, said.get(name, field.default)) for name, field in FIELDS.items()}
    return FormState(values={"kind": (rule.kind,), **texts})


def _write(field: RuleField, value: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return what a browser would send for a value of a rule as JSON."""
    if field.control == "boxes":
        return tuple(value)
    if field.control == "list":
        return ("" if value is None else ", ".join(value) or NOTHING,)
    if field.control == "flag":
        return ("yes",) if value else ()
    if value is None:
        return ("",)
    return (value if isinstance(value, str) else f"{value:g}",)


def new_form(measure: str) -> FormState:
    """Return the form of a new rule, with the defaults of a rule and no name."""
    form = fill_form(Rule(name="new rule", measure=measure))
    return FormState(values={**form.values, "name": ("",)})


def read_form(fields: Mapping[str, tuple[str, ...]]) -> tuple[Rule | None, FormState]:
    """Make a rule of what stands in the fields; no rule, and why, where they make none.

    A browser sends the fields of all kinds, of which those of the chosen one count.
    """
    values = {
        name: tuple(each.strip() for each in fields.get(name, ())) for name in ("kind", *FIELDS)
    }
    form = FormState(values=values)
    said: dict[str, Any] = {"kind": form["kind"]}
    wrong: dict[str, str] = {}
    for name, field in FIELDS.items():
        if form["kind"] not in field.kinds:
            continue
        if field.is_required and not form[name]:
            wrong[name] = "This field is required."
        try:
            value = _read(field, values[name])
        except (ValueError, RefusedError):
            wrong[name] = f"Enter {_expect(field)}."
        else:
            if value is not None:
                said[name] = value
    rule = None
    if not wrong:
        try:
            rule = Rule.from_dict(said)
        except UsageError as error:
            wrong |= place_problem(error)
    return rule, replace(form, wrong=wrong)


def _read(field: RuleField, values: tuple[str, ...]) -> object:
    """Read what a browser has sent for a field; `None` for its default."""
    text = "".join(values[:1])
    if field.control == "flag":
        return bool(text)
    if field.control == "boxes":
        return values
    if field.control == "list":
        names = tuple(filter(None, map(str.strip, text.split(","))))
        return () if text == NOTHING else names or None
    if field.control in READ and (text or field.default is not None):
        return READ[field.control][0](text)
    return text or None


def _expect(field: RuleField) -> str:
    unit = f" of {field.setting.unit}" if field.setting.unit else ""
    example = "" if field.default is None else f", such as {field.default:g}"
    return f"{READ[field.control][1]}{unit}{example}"


def place_problem(error: UsageError) -> dict[str, str]:
    """Return a problem by its field, whose name begins the message of a rule."""
    field, _, message = error.message.partition(": ")
    return {field: show(message)} if field in {"kind", *FIELDS} else {"": show(error.message)}


HOURS = ("0", "1", "24", "168")
FORM = make_record(
    "RuleForm",
    {"kind": str}
    | {name: list[str] if each.control == "boxes" else str for name, each in FIELDS.items()},
)
SILENCE = make_record("SilenceForm", {"hours": Annotated[str, OneOf(*HOURS)]})
RESOLVE = make_record("ResolveForm", {})
REMOVE = make_record("RemoveForm", {"sure": Literal["yes"]})


def _silence(monitor: Monitor, call: Call) -> str:
    """Pause the notifications of a rule for some hours; with 0, resume them."""
    length = read_hours(call, HOURS)
    until = to_datetime(monitor.clock() + length) if length else None
    monitor.silence(call.part("name"), until, actor=call.principal.actor)
    return _address(call.part("name"))


def _resolve(monitor: Monitor, call: Call) -> str:
    """Resolve the incidents of a rule."""
    monitor.resolve_rule(call.part("name"), actor=call.principal.actor)
    return _address(call.part("name"))


def _remove(monitor: Monitor, call: Call) -> str:
    """Delete a rule, if the box is ticked."""
    if call.field("sure") != "yes":
        raise RefusedRequestError(
            422, "tick the box to confirm that the rule is deleted", code="bad_form"
        )
    monitor.remove_rule(call.part("name"), actor=call.principal.actor)
    return RULES.path


def _set(monitor: Monitor, call: Call, name: str | None) -> str | tuple[Page, object, int]:
    """Create or change a rule, or show the form again with what is wrong."""
    rule, form = read_form(call.form)
    if rule is not None and name is not None and rule.name != name:
        raise RefusedRequestError(422, "the name of a rule cannot be changed", code="bad_form")
    if name is None and any(each.name == form["name"] for each in monitor.rules()):
        rule = None
        form = replace(form, wrong={"name": "There is already a rule with this name."})
    if rule is not None:
        try:
            monitor.set_rule(rule, actor=call.principal.actor)
        except UsageError as error:
            form = replace(form, wrong=place_problem(error))
        else:
            return _address(rule.name)
    return NEW_RULE if name is None else RULE, view_rule(monitor, name, form), 422


def _address(name: str) -> str:
    return f"/rules/{quote(name, safe='')}"


def show_fields() -> str:
    """Return the style by which a form shows the fields of the chosen kind, and with an error."""
    hidden = (
        f'form:has(#kind option[value="{kind}"]:checked) '
        f'[data-kinds]:not([data-kinds~="{kind}"], :has(.wrong))'
        for kind in KINDS
    )
    return f"{', '.join(hidden)} {{ display: none; }}\n"


WORDS: Mapping[str, object] = {
    "weigh": weigh,
    "rule_fields": tuple(FIELDS.values()),
    "rule_kinds": [(name, kind.words) for name, kind in KINDS.items()],
}


NEW_RULE = Page(
    path="/rules/new",
    here="Rules",
    template="rule.html.j2",
    summary="The form that creates a rule.",
    view=lambda monitor, _call: view_rule(monitor, None),
)
RULE = Page(
    path="/rules/{name}",
    here="Rules",
    template="rule.html.j2",
    summary="A rule: its status, its history, and the form that changes it.",
    view=lambda monitor, call: view_rule(monitor, call.part("name")),
)
PAGES = (RULES, NEW_RULE, RULE)
FORMS = (
    EditForm("/rules/new", partial(_set, name=None), body=FORM, summary="Create a rule."),
    EditForm(
        "/rules/{name}/change",
        lambda monitor, call: _set(monitor, call, call.part("name")),
        body=FORM,
        summary="Change a rule.",
    ),
    EditForm(
        "/rules/{name}/silence",
        _silence,
        body=SILENCE,
        summary="Pause the notifications of a rule.",
    ),
    EditForm("/rules/{name}/resolve", _resolve, body=RESOLVE),
    EditForm("/rules/{name}/remove", _remove, body=REMOVE, summary="Delete a rule."),
)
