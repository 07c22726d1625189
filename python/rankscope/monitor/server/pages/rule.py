"""The page of a rule: its state, its history, and the form that creates or changes it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal
from urllib.parse import quote

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.drop.progress import list_warnings
from rankscope.monitor.rules.kinds import FIELDS, KINDS, Rule
from rankscope.monitor.rules.settings import BETWEEN
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.schema import OneOf, make_record
from rankscope.monitor.server.pages.groups import group_incidents
from rankscope.monitor.server.pages.incidents import WORDS as INCIDENT_WORDS
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.page import Form, Page
from rankscope.monitor.server.pages.render import read_moment, write_field
from rankscope.monitor.server.pages.rules import RULES, WORDS
from rankscope.monitor.store.folding import OTHER
from rankscope.output.text import show
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.rules.kinds import RuleField
    from rankscope.monitor.rules.state import RuleState
    from rankscope.monitor.server.pages.groups import Group
    from rankscope.monitor.server.routing.endpoint import Call


@record(frozen=True, slots=True, kw_only=True)
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
    form: RuleForm

    @property
    def warnings(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What makes its evidence doubtful, each with the names of the slices it is about."""
        about: dict[str, list[str]] = {}
        for stream in () if self.state is None else self.state.streams:
            for warning in list_warnings(stream):
                about.setdefault(warning, []).append(stream.name)
        return tuple((warning, tuple(names)) for warning, names in about.items())


def view_rule(monitor: Monitor, name: str | None, form: RuleForm | None = None) -> RuleView:
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


@record(frozen=True, slots=True, kw_only=True)
class RuleForm:
    """The fields of a form.

    Args:
        values: What stands in the fields, or is ticked, by name, as a browser sends it.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
    """

    values: Mapping[str, tuple[str, ...]]
    wrong: Mapping[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """Return the text of a field."""
        return "".join(self.values.get(name, ())[:1])


def fill_form(rule: Rule) -> RuleForm:
    """Fill a form with what a rule has, and with defaults for what only others have.

    Examples:
        >>> form = fill_form(Rule(name="quality", measure="nDCG@5"))
        >>> form["tolerance"], form["since"], form["is_relative"], form["anchor"]
        ('0.02', '', '', 'yes')
    """
    said = rule.to_dict()
    texts = {
        name: _write(field, said.get(name, field.default), rule.since)
        for name, field in FIELDS.items()
    }
    return RuleForm(values={"kind": (rule.kind,), **texts})


def _write(field: RuleField, value: Any, since: datetime | None) -> tuple[str, ...]:  # noqa: ANN401
    """Return what a browser would send for a value of a rule as JSON."""
    if field.control == "time":
        return (write_field(since),)
    if field.control == "boxes":
        return tuple(value)
    if field.control == "list":
        return ("" if value is None else ", ".join(value) or NOTHING,)
    if field.control == "flag":
        return ("yes",) if value else ()
    if value is None:
        return ("",)
    return (value if isinstance(value, str) else f"{value:g}",)


def new_form(measure: str) -> RuleForm:
    """Return the form of a new rule, with the defaults of a rule and no name."""
    form = fill_form(Rule(name="new rule", measure=measure))
    return RuleForm(values={**form.values, "name": ("",)})


def read_form(fields: Mapping[str, tuple[str, ...]]) -> tuple[Rule | None, RuleForm]:
    """Make a rule of what stands in the fields; no rule, and why, where they make none.

    A browser sends the fields of all kinds, of which those of the chosen one count.
    """
    values = {
        name: tuple(each.strip() for each in fields.get(name, ())) for name in ("kind", *FIELDS)
    }
    form = RuleForm(values=values)
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
    if field.control == "time":
        return read_moment(text)
    if field.control in READ and (text or field.default is not None):
        return READ[field.control][0](text)
    return text or None


def _expect(field: RuleField) -> str:
    if field.control == "time":
        return "a time in UTC, such as 2026-11-21T18:00, or leave the field empty"
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
    hours = call.field("hours")
    if hours not in HOURS:
        raise RefusedRequestError(422, f"hours must be one of {', '.join(HOURS)}", code="bad_form")
    until = to_datetime(monitor.clock() + int(hours) * HOUR) if int(hours) else None
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


def explain_rule(view: RuleView) -> dict[str, object]:
    """Return what else the template of a rule needs."""
    configuration = view.configuration
    names = [measure.name for measure in configuration.definition.measures]
    pairs = [BETWEEN.join(pair) for pair in configuration.all_pairs]
    sources: dict[str, list[tuple[str, str]]] = {
        "measures": [*((name, name) for name in names), *FIELDS["measure"].setting.words],
        "dimensions": [(name, name) for name in (*configuration.attributes, *pairs)],
    }
    return {
        **WORDS,
        **INCIDENT_WORDS,
        "fields": tuple(FIELDS.values()),
        "having": {name: each.kinds for name, each in FIELDS.items() if each.kinds != tuple(KINDS)},
        "alerts": [(name, kind.words) for name, kind in KINDS.items()],
        "choices": {
            name: sources.get(field.setting.source)
            or [(each, dict(field.setting.words).get(each, each)) for each in field.choices]
            for name, field in FIELDS.items()
        },
    }


NEW_RULE = Page(
    path="/rules/new",
    here="Rules",
    template="rule.html.j2",
    summary="The form that creates a rule.",
    view=lambda monitor, _call: view_rule(monitor, None),
    extras=explain_rule,
)
RULE = Page(
    path="/rules/{name}",
    here="Rules",
    template="rule.html.j2",
    summary="A rule: its status, its history, and the form that changes it.",
    view=lambda monitor, call: view_rule(monitor, call.part("name")),
    extras=explain_rule,
)
PAGES = (NEW_RULE, RULE)
FORMS = tuple(
    Form(path=path, summary=summary, work=work, body=body)
    for path, summary, work, body in (
        ("/rules/new", "Create a rule.", partial(_set, name=None), FORM),
        (
            "/rules/{name}/change",
            "Change a rule.",
            lambda monitor, call: _set(monitor, call, call.part("name")),
            FORM,
        ),
        ("/rules/{name}/silence", "Pause the notifications of a rule.", _silence, SILENCE),
        ("/rules/{name}/resolve", "Resolve the incidents of a rule.", _resolve, RESOLVE),
        ("/rules/{name}/remove", "Delete a rule.", _remove, REMOVE),
    )
)
