"""The page of a rule: its state, its history, and the form that creates or changes it."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.state import list_warnings
from rankscope.monitor.alerts.rule import BETWEEN, EMPTY, FEWEST, KINDS, USED_BY, WATCHES, Rule
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.schema import OneOf, make_record
from rankscope.monitor.server.pages.groups import group_incidents
from rankscope.monitor.server.pages.incidents import WORDS as INCIDENT_WORDS
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.render import read_moment, write_field
from rankscope.monitor.server.pages.rules import RULES, WORDS
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.monitor.store.folding import OTHER
from rankscope.output.text import show
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from starlette.responses import Response

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.alerts.rule import Watch
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.groups import Group
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.server.routing.pool import MonitorPool


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
            dict.fromkeys(one.model for one in monitor.versions() if one.model not in {"", OTHER})
        ),
        now=monitor.clock(),
        state=state,
        groups=() if name is None else group_incidents(read_incidents(monitor, name)),
        form=form,
    )


NUMBERS: Mapping[str, tuple[Callable[[str], float], str]] = {
    "tolerance": (float, "a number, such as 0.02"),
    "run_length": (float, "a number of periods, such as 1800"),
    "fewest": (int, "a whole number, such as 30"),
    "remind": (float, "a number of hours, such as 24"),
}
TEXTS = ("name", "measure", "kind", "model", "period", "needs", "severity")
LISTS = ("channels", "lanes")
"""Fields that hold several names with commas between; empty for the default."""
NOTHING = "none"
"""What stands in such a field for no name at all."""
FLAGS = ("is_relative", "anchor")


@record(frozen=True, slots=True, kw_only=True)
class RuleForm:
    """The fields of a form.

    Args:
        texts: What stands in the fields that hold a text, by name.
        flags: What is ticked of what is a yes or no.
        slices: The attributes that are ticked.
        watches: What is ticked of what a rule about data watches; nothing stands for everything.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
    """

    texts: Mapping[str, str]
    flags: frozenset[str]
    slices: tuple[str, ...]
    watches: tuple[str, ...] = ()
    wrong: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        """Return the text of a field."""
        return self.texts.get(name, "")


def fill_form(rule: Rule) -> RuleForm:
    """Fill a form with what a rule has.

    Examples:
        >>> form = fill_form(Rule(name="quality", measure="nDCG@5"))
        >>> form["tolerance"], form["since"], sorted(form.flags)
        ('0.02', '', ['anchor'])
    """
    texts = {name: getattr(rule, name) or "" for name in TEXTS}
    texts |= {name: f"{getattr(rule, name):g}" for name in NUMBERS}
    if rule.kind not in USED_BY["fewest"]:
        texts["fewest"] = f"{FEWEST}"  # of rules that were stored while a drop had one
    said = rule.to_dict()
    texts |= {name: _write_list(said[name]) for name in LISTS}
    return RuleForm(
        texts=texts | {"since": write_field(rule.since)},
        flags=frozenset(name for name in FLAGS if getattr(rule, name)),
        slices=rule.slices,
        watches=rule.watches,
        wrong={},
    )


def new_form(measure: str) -> RuleForm:
    """Return the form of a new rule, with the defaults of a rule and no name."""
    form = fill_form(Rule(name="new rule", measure=measure))
    return replace(form, texts={**form.texts, "name": ""})


def read_form(fields: Mapping[str, tuple[str, ...]]) -> tuple[Rule | None, RuleForm]:
    """Make a rule of what stands in the fields; no rule, and why, where they make none."""
    names = (*TEXTS, *NUMBERS, *LISTS, "since")
    texts = {name: fields.get(name, ("",))[0].strip() for name in names}
    flags = frozenset(name for name in FLAGS if name in fields)
    slices, watches = (tuple(fields.get(name, ())) for name in ("slices", "watches"))
    said: dict[str, Any] = {name: texts[name] for name in TEXTS if texts[name]}
    said |= {name: name in flags for name in FLAGS} | {"slices": slices, "watches": watches}
    said |= {name: _read_list(texts[name]) for name in LISTS}
    wrong = {}
    for name, (read, expected) in NUMBERS.items():
        try:
            said[name] = read(texts[name])
        except ValueError:
            wrong[name] = f"Enter {expected}."
    try:
        said["since"] = read_moment(texts["since"])
    except RefusedError:
        wrong["since"] = "Enter a time in UTC, such as 2026-11-21T18:00, or leave the field empty."
    kind = said.get("kind")
    if kind in {"data", "trace"}:
        # All fields are sent, whatever the kind.
        said = {name: each for name, each in said.items() if kind in USED_BY.get(name, KINDS)}
    for name in ("name",) if kind == "data" else ("name", "measure"):
        if not texts[name]:
            wrong[name] = "This field is required."
    rule = None
    if not wrong:
        try:
            rule = Rule(**said)
        except UsageError as error:
            wrong |= place_problem(error)
    form = RuleForm(texts=texts, flags=flags, slices=slices, watches=watches, wrong=wrong)
    return rule, form


def _write_list(names: list[str] | None) -> str:
    return "" if names is None else ", ".join(names) or NOTHING


def _read_list(text: str) -> tuple[str, ...] | None:
    if text == NOTHING:
        return ()
    return tuple(filter(None, map(str.strip, text.split(",")))) or None


def place_problem(error: UsageError) -> dict[str, str]:
    """Return a problem by its field, whose name begins the message of a rule."""
    field, _, message = error.message.partition(": ")
    known = {*TEXTS, *NUMBERS, *LISTS, "since", "slices", "watches"}
    return {field: show(message)} if field in known else {"": show(error.message)}


HOURS = ("0", "1", "24", "168")
FIELDS = make_record(
    "RuleForm",
    dict.fromkeys((*TEXTS, *NUMBERS, *LISTS, "since", *FLAGS), str)
    | {"slices": list[str], "watches": list[str]},
)
SILENCE = make_record("SilenceForm", {"hours": Annotated[str, OneOf(*HOURS)]})
RESOLVE = make_record("ResolveForm", {})
REMOVE = make_record("RemoveForm", {"sure": Literal["yes"]})


class RuleForms:
    """Takes the forms of rules.

    Args:
        pool: Asks the monitors of projects.
        fill: Makes the HTML of a page.
    """

    def __init__(self, pool: MonitorPool, fill: Callable[[Page, Call, RuleView], str]) -> None:
        self._pool = pool
        self._fill = fill
        self.endpoints = tuple(
            Endpoint("POST", path, "admin", answer, "form", summary, body=body, status=303)
            for path, answer, summary, body in (
                ("/rules/new", self.make, "Create a rule.", FIELDS),
                ("/rules/{name}/change", self.change, "Change a rule.", FIELDS),
                (
                    "/rules/{name}/silence",
                    self.silence,
                    "Pause the notifications of a rule.",
                    SILENCE,
                ),
                (
                    "/rules/{name}/resolve",
                    self.resolve,
                    "Resolve the incidents of a rule.",
                    RESOLVE,
                ),
                ("/rules/{name}/remove", self.remove, "Delete a rule.", REMOVE),
            )
        )

    async def make(self, call: Call) -> Response:
        """Make a rule, or show the form again with what is wrong."""
        return await self._pool.run(call.principal, lambda monitor: self._set(monitor, call, None))

    async def change(self, call: Call) -> Response:
        """Change a rule, or show the form again with what is wrong."""
        name = call.part("name")
        return await self._pool.run(call.principal, lambda monitor: self._set(monitor, call, name))

    async def silence(self, call: Call) -> Response:
        """Pause the notifications of a rule for some hours; with 0, resume them."""
        hours = call.field("hours")
        if hours not in HOURS:
            raise RefusedRequestError(
                422, f"hours must be one of {', '.join(HOURS)}", code="bad_form"
            )

        def silence(monitor: Monitor, name: str, actor: str) -> None:
            until = to_datetime(monitor.clock() + int(hours) * HOUR) if int(hours) else None
            monitor.silence(name, until, actor=actor)

        return await self._do(call, silence)

    async def resolve(self, call: Call) -> Response:
        """Resolve the incidents of a rule."""

        def resolve(monitor: Monitor, name: str, actor: str) -> None:
            monitor.resolve_rule(name, actor=actor)

        return await self._do(call, resolve)

    async def remove(self, call: Call) -> Response:
        """Delete a rule, if the box is ticked."""
        if call.field("sure") != "yes":
            raise RefusedRequestError(
                422, "tick the box to confirm that the rule is deleted", code="bad_form"
            )

        def remove(monitor: Monitor, name: str, actor: str) -> None:
            monitor.remove_rule(name, actor=actor)

        return await self._do(call, remove, then=RULES.path)

    async def _do(
        self, call: Call, work: Callable[[Monitor, str, str], None], then: str = ""
    ) -> Response:
        name, actor = call.part("name"), call.principal.actor
        await self._pool.run(call.principal, lambda monitor: work(monitor, name, actor))
        return RedirectResponse(then or _address(name), 303)

    def _set(self, monitor: Monitor, call: Call, name: str | None) -> Response:
        rule, form = read_form(call.form)
        if rule is not None and name is not None and rule.name != name:
            raise RefusedRequestError(422, "the name of a rule cannot be changed", code="bad_form")
        if name is None and any(each.name == form["name"] for each in monitor.rules()):
            rule, form = (
                None,
                replace(form, wrong={"name": "There is already a rule with this name."}),
            )
        if rule is not None:
            try:
                monitor.set_rule(rule, actor=call.principal.actor)
            except UsageError as error:
                form = replace(form, wrong=place_problem(error))
            else:
                return RedirectResponse(_address(rule.name), 303)
        view = view_rule(monitor, name, form)
        return HTMLResponse(self._fill(NEW_RULE if name is None else RULE, call, view), 422)


def _address(name: str) -> str:
    return f"/rules/{quote(name, safe='')}"


def _view_new(monitor: Monitor, _call: Call) -> RuleView:
    return view_rule(monitor, None)


def _view_rule(monitor: Monitor, call: Call) -> RuleView:
    return view_rule(monitor, call.part("name"))


WATCHED: Mapping[Watch, str] = {
    "volume": "volume: fewer or more rankings than usual",
    "freshness": "freshness: no rankings arrive",
    "files": "files: files of a data lake can't be read",
    "labels": "labels: fewer or more labels than usual",
    "label_freshness": "label_freshness: no labels arrive",
    "relevance": "relevance: more rankings without a relevant document",
    "attributes": "attributes: values vanish, appear or are missing",
    "versions": "versions: models and versions vanish",
    "names": "names: labels and attributes match nothing",
}
"""What a rule about data watches, in words."""


def explain_rule(view: RuleView) -> dict[str, object]:
    """Return what else the template of a rule needs."""
    configuration = view.configuration
    names = [measure.name for measure in configuration.definition.measures]
    empty = (EMPTY, "share of rankings without relevant documents")
    pairs = [BETWEEN.join(pair) for pair in configuration.all_pairs]
    return {
        **WORDS,
        **INCIDENT_WORDS,
        "measures": [*((name, name) for name in names), empty],
        "dimensions": [*configuration.attributes, *pairs],
        "watches": tuple((name, WATCHED[name]) for name in WATCHES),
        "used_by": USED_BY,
    }


NEW_RULE = Page(
    path="/rules/new",
    here="Rules",
    template="rule.html.j2",
    summary="The form that creates a rule.",
    view=_view_new,
    extras=explain_rule,
)
RULE = Page(
    path="/rules/{name}",
    here="Rules",
    template="rule.html.j2",
    summary="A rule: its status, its history, and the form that changes it.",
    view=_view_rule,
    extras=explain_rule,
)
PAGES = (NEW_RULE, RULE)
