"""The pages of alerts and rules."""

from __future__ import annotations

from rankscope.monitor.limits import HOUR
from rankscope.monitor.server.pages.address import make_address
from rankscope.monitor.server.pages.moments import write_field
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.view_alerts import (
    TOLD,
    AlertsView,
    read_rule_of,
    view_alerts,
    weigh,
)
from rankscope.monitor.server.pages.view_rule import RuleView, view_rule
from rankscope.monitor.slicing import OTHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.alert import Fallen
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.alerts.stream import Stream
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked


def describe_rule(rule: Rule) -> str:
    """Say what a rule asks for.

    Examples:
        >>> from rankscope.monitor.alerts.rule import Rule
        >>> describe_rule(Rule(name="quality", measure="nDCG@5", slices=("device",)))
        'A drop of nDCG@5 by more than 0.02, day by day, in all rankings and by device; one \
false alarm in 1,800 days or more, on average.'
    """
    amount = f"{100 * rule.tolerance:g} %" if rule.is_relative else f"{rule.tolerance:g}"
    where = f" of {rule.model}" if rule.model is not None else ""
    slices = f" and by {', '.join(rule.slices)}" if rule.slices else ""
    if rule.kind == "drop":
        return (
            f"A drop of {rule.measure} by more than {amount}, {rule.period} by {rule.period}, in "
            f"all rankings{where}{slices}; one false alarm in {rule.run_length:,.0f} "
            f"{rule.period}s or more, on average."
        )
    needs = "with its whole interval " if rule.needs == "interval" else ""
    return (
        f"{rule.measure} of a {rule.period} {needs}more than {amount} below the baseline, in all "
        f"rankings{where}{slices}."
    )


def trace_of(measure: str, stream: Stream | Fallen | None, now: int) -> str:
    """Give the address of a trace that says why a stream fell.

    What is looked at is its version from when the drop seems to have begun; the trace itself knows
    what to hold that against.

    Args:
        measure: The measure.
        stream: What fell.
        now: Until when, in microseconds since 1970 in UTC.
    """
    if stream is None or stream.since is None:
        return make_address("/trace", measure=measure)
    return make_address(
        "/trace",
        measure=measure,
        after_since=write_field(stream.since - stream.since % HOUR),
        after_until=write_field(now - now % HOUR),
        # What is summed as `<other>` cannot be traced by that name.
        after_model=None if stream.model in {"", OTHER} else stream.model,
        after_version=None if stream.version in {"", OTHER} else stream.version,
    )


def _view_alerts(monitor: Monitor, _asked: Asked) -> AlertsView:
    return view_alerts(monitor)


def _view_new(monitor: Monitor, _asked: Asked) -> RuleView:
    return view_rule(monitor, None)


def _view_rule(monitor: Monitor, asked: Asked) -> RuleView:
    return view_rule(monitor, asked.part("name"))


def explain_rule(view: RuleView) -> dict[str, object]:
    """Give what the template of a rule needs besides."""
    names = [measure.name for measure in view.configuration.definition.measures]
    return {**WORDS, "measures": [(name, name) for name in names]}


def _explain_alerts(_view: AlertsView) -> dict[str, object]:
    return WORDS


WORDS: dict[str, object] = {
    "describe": describe_rule,
    "trace_of": trace_of,
    "weigh": weigh,
    "rule_of": read_rule_of,
    "told": TOLD,
}

ALERTS = Page(
    path="/alerts",
    twin="/alerts.json",
    here="Alerts",
    template="alerts.html.j2",
    summary="How the rules stand, what they have found, and who was told.",
    view=_view_alerts,
    extras=_explain_alerts,
)
NEW_RULE = Page(
    path="/rules/new",
    twin="",
    here="Alerts",
    template="rule.html.j2",
    summary="The form to make a rule by.",
    view=_view_new,
    extras=explain_rule,
)
RULE = Page(
    path="/rules/{name}",
    twin="/rules/{name}.json",
    here="Alerts",
    template="rule.html.j2",
    summary="A rule: how it stands, what it has found, and the form to change it by.",
    view=_view_rule,
    extras=explain_rule,
)
