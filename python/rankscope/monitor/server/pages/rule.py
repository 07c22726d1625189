"""The page of a rule: its state, its history, and the form that creates or changes it."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.errors import UsageError
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.server.api.schemas import TEXT, form_of, list_of
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.alerts import WORDS
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.render import make_plain, read_moment, write_field
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record, replace
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from starlette.responses import Response

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.alerts.notify.alert import Alert
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk

MOST_ALERTS = 1000


@record(frozen=True, slots=True, kw_only=True)
class RuleView:
    """A rule.

    Args:
        configuration: How the project is measured.
        models: The models that were shown.
        now: As of when, in microseconds since 1970 in UTC.
        state: How it stands; `None` for one that is to be made.
        alerts: The changes of its state, the newest first.
        form: The form.
    """

    configuration: Configuration
    models: tuple[str, ...]
    now: int
    state: RuleState | None
    alerts: tuple[Alert, ...]
    form: RuleForm

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        return {
            "now": format_time(self.now),
            "state": make_plain(self.state),
            "alerts": [make_plain(one) for one in self.alerts],
        }


def view_rule(monitor: Monitor, name: str | None, form: RuleForm | None = None) -> RuleView:
    """Look at a rule.

    Args:
        monitor: The monitor of the project.
        name: Its name; `None` for one that is to be made.
        form: What the form says, if not what the rule has.

    Raises:
        UsageError: There is no such rule, or nothing is measured.
    """
    configuration = monitor.configuration
    state = None
    if name is not None:
        state = next((one for one in monitor.check() if one.rule.name == name), None)
        if state is None:
            raise UsageError(
                "there is no rule with this name",
                hint="see the list of rules under Alerts",
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
        alerts=tuple(one for one in monitor.alerts(MOST_ALERTS) if one.rule == name),
        form=form,
    )


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
        """Return the text of a field."""
        return self.texts.get(name, "")

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
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
    """Return the form of a new rule, with the defaults of a rule and no name."""
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
            wrong[name] = f"Enter {expected}."
    try:
        said["since"] = read_moment(texts["since"])
    except RefusedError:
        wrong["since"] = "Enter a time in UTC, such as 2026-11-21T18:00, or leave the field empty."
    for name in ("name", "measure"):
        if not texts[name]:
            wrong[name] = "This field is required."
    rule = None
    if not wrong:
        try:
            rule = Rule(**said)
        except UsageError as error:
            wrong |= place_problem(error)
    return rule, RuleForm(texts=texts, flags=flags, slices=slices, wrong=wrong)


def place_problem(error: UsageError) -> dict[str, str]:
    """Return a problem by its field, whose name begins the message of a rule."""
    field, _, message = error.message.partition(": ")
    known = {*TEXTS, *NUMBERS, "since", "slices"}
    return {field: show(message)} if field in known else {"": show(error.message)}


HOURS = ("0", "1", "24", "168")
FIELDS = form_of(*TEXTS, *NUMBERS, "since", *FLAGS, slices=list_of(TEXT))
SILENCE = form_of(hours={"enum": list(HOURS)})
REMOVE = form_of(sure={"const": "yes"})


class RuleForms:
    """Takes the forms of rules.

    Args:
        desk: Asks the monitors of projects.
        fill: Makes the HTML of a page.
    """

    def __init__(self, desk: Desk, fill: Callable[[Page, Asked, RuleView], str]) -> None:
        self._desk = desk
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
                    "Resolve the incident of a rule.",
                    form_of(),
                ),
                ("/rules/{name}/remove", self.remove, "Delete a rule.", REMOVE),
            )
        )

    async def make(self, asked: Asked) -> Response:
        """Make a rule, or show the form again with what is wrong."""
        return await self._desk.ask(asked.visitor, lambda monitor: self._set(monitor, asked, None))

    async def change(self, asked: Asked) -> Response:
        """Change a rule, or show the form again with what is wrong."""
        name = asked.part("name")
        return await self._desk.ask(asked.visitor, lambda monitor: self._set(monitor, asked, name))

    async def silence(self, asked: Asked) -> Response:
        """Pause the notifications of a rule for some hours; with 0, resume them."""
        hours = asked.field("hours")
        if hours not in HOURS:
            raise RefusedRequestError(
                422, f"hours must be one of {', '.join(HOURS)}", code="bad_form"
            )

        def silence(monitor: Monitor, name: str, actor: str) -> None:
            until = to_datetime(monitor.clock() + int(hours) * HOUR) if int(hours) else None
            monitor.silence(name, until, actor=actor)

        return await self._do(asked, silence)

    async def resolve(self, asked: Asked) -> Response:
        """Resolve the incident of a rule."""

        def resolve(monitor: Monitor, name: str, actor: str) -> None:
            monitor.resolve(name, actor=actor)

        return await self._do(asked, resolve)

    async def remove(self, asked: Asked) -> Response:
        """Delete a rule, if the box is ticked."""
        if asked.field("sure") != "yes":
            raise RefusedRequestError(
                422, "tick the box to confirm that the rule is deleted", code="bad_form"
            )

        def remove(monitor: Monitor, name: str, actor: str) -> None:
            monitor.remove_rule(name, actor=actor)

        return await self._do(asked, remove, then="/alerts")

    async def _do(
        self, asked: Asked, work: Callable[[Monitor, str, str], None], then: str = ""
    ) -> Response:
        name, actor = asked.part("name"), asked.visitor.actor
        await self._desk.ask(asked.visitor, lambda monitor: work(monitor, name, actor))
        return RedirectResponse(then or _address(name), 303)

    def _set(self, monitor: Monitor, asked: Asked, name: str | None) -> Response:
        rule, form = read_form(asked.form)
        if rule is not None and name is not None and rule.name != name:
            raise RefusedRequestError(422, "the name of a rule cannot be changed", code="bad_form")
        if name is None and any(each.name == form["name"] for each in monitor.rules()):
            rule, form = (
                None,
                replace(form, wrong={"name": "There is already a rule with this name."}),
            )
        if rule is not None:
            try:
                monitor.set_rule(rule, actor=asked.visitor.actor)
            except UsageError as error:
                form = replace(form, wrong=place_problem(error))
            else:
                return RedirectResponse(_address(rule.name), 303)
        view = view_rule(monitor, name, form)
        return HTMLResponse(self._fill(NEW_RULE if name is None else RULE, asked, view), 422)


def _address(name: str) -> str:
    return f"/rules/{quote(name, safe='')}"


def _view_new(monitor: Monitor, _asked: Asked) -> RuleView:
    return view_rule(monitor, None)


def _view_rule(monitor: Monitor, asked: Asked) -> RuleView:
    return view_rule(monitor, asked.part("name"))


def explain_rule(view: RuleView) -> dict[str, object]:
    """Return what else the template of a rule needs."""
    names = [measure.name for measure in view.configuration.definition.measures]
    return {**WORDS, "measures": [(name, name) for name in names]}


NEW_RULE = Page(
    path="/rules/new",
    twin="",
    here="Alerts",
    template="rule.html.j2",
    summary="The form that creates a rule.",
    view=_view_new,
    extras=explain_rule,
)
RULE = Page(
    path="/rules/{name}",
    twin="/rules/{name}.json",
    here="Alerts",
    template="rule.html.j2",
    summary="A rule: its status, its history, and the form that changes it.",
    view=_view_rule,
    extras=explain_rule,
)
