"""The alerts page: rules, their streams, and the alert history."""

from __future__ import annotations

import json
import math

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time, to_micros
from rankscope.monitor.server.pages.page import Page, list_states, read_configuration
from rankscope.monitor.server.pages.render import make_address, make_plain, write_field
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.alerts.detect.stream import Stream
    from rankscope.monitor.alerts.management import Notification
    from rankscope.monitor.alerts.notify.alert import Alert, Fallen
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked

MOST = 100
MOST_STREAMS = 20

TOLD = {
    "waiting": "waits",
    "delivered": "delivered",
    "dead": "given up",
    "summed": "given up, and a later one said so",
}


@record(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How much evidence of a drop a stream has, for a bar.

    Args:
        share: Which share of the bar is filled.
        needed: Where on the bar what is needed lies, from 0 to 100.
        text: The evidence as a number of times.
        asked: How many times are needed.
    """

    share: float
    needed: float
    text: str
    asked: str


@record(frozen=True, slots=True, kw_only=True)
class AlertsView:
    """The rules of a project and what came of them.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        rules: How the rules stand.
        alerts: The changes of their states, the newest first.
        letters: What was told of them, the newest first.
    """

    configuration: Configuration | None
    now: int
    rules: tuple[RuleState, ...]
    alerts: tuple[Alert, ...]
    letters: tuple[Notification, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        return {
            "now": format_time(self.now),
            "rules": [make_plain(one) for one in self.rules],
            "alerts": [make_plain(one) for one in self.alerts],
            "notifications": [_tell(letter) for letter in self.letters],
        }


def view_alerts(monitor: Monitor) -> AlertsView:
    """Look at the rules of a project."""
    configuration = read_configuration(monitor)
    return AlertsView(
        configuration=configuration,
        now=monitor.clock(),
        rules=() if configuration is None else list_states(monitor),
        alerts=monitor.alerts(MOST),
        letters=monitor.notifications(MOST),
    )


def read_rule_of(letter: Notification) -> str:
    """Give the rule that a notification is about; nothing where it is about no rule."""
    said = json.loads(letter.body)
    return str(said.get("rule", ""))


def weigh(stream: Stream) -> Evidence | None:
    """Say how much evidence of a drop a stream has; nothing where none is collected."""
    if stream.detector is None or stream.needed is None or stream.needed <= 0:
        return None
    found = stream.log_evidence
    most = max(stream.needed * 1.25, found)
    share = max(found, 0.0) / most if math.isfinite(found) else 0.0
    return Evidence(
        share=share,
        needed=round(100 * stream.needed / most, 2),
        text=write_times(found),
        asked=write_times(stream.needed),
    )


def write_times(log_evidence: float) -> str:
    """Write evidence, which is a number of times, from its logarithm.

    Examples:
        >>> (
        ...     write_times(0.0),
        ...     write_times(math.log(1800)),
        ...     write_times(100.0),
        ...     write_times(-math.inf),
        ... )
        ('1', '1,800', '2.7e+43', '0')
    """
    if log_evidence == -math.inf:
        return "0"
    if log_evidence > math.log(1e6):
        return f"{math.exp(min(log_evidence, 700.0)):.1e}"
    times = math.exp(log_evidence)
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"


def _tell(letter: Notification) -> dict[str, Any]:
    finished = letter.finished
    return {
        "id": letter.notification_id,
        "channel": letter.channel,
        "rule": read_rule_of(letter),
        "created": format_time(letter.created),
        "status": letter.status,
        "attempts": letter.attempts,
        "due": format_time(letter.due),
        "finished": None if finished is None else format_time(finished),
        "problem": letter.problem,
    }


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


def trace_of(measure: str, stream: Stream | Fallen | None, now: int | datetime) -> str:
    """Give the address of a trace that says why a stream fell.

    What is looked at is its version from when the drop seems to have begun; the trace itself knows
    what to hold that against.

    Args:
        measure: The measure.
        stream: What fell.
        now: Until when.
    """
    if stream is None or stream.since is None:
        return make_address("/trace", measure=measure)
    end = now if isinstance(now, int) else to_micros(now)
    return make_address(
        "/trace",
        measure=measure,
        after_since=write_field(stream.since.replace(minute=0, second=0, microsecond=0)),
        after_until=write_field(end - end % HOUR),
        # What is summed as `<other>` cannot be traced by that name.
        after_model=None if stream.model in {"", OTHER} else stream.model,
        after_version=None if stream.version in {"", OTHER} else stream.version,
    )


def _view_alerts(monitor: Monitor, _asked: Asked) -> AlertsView:
    return view_alerts(monitor)


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
