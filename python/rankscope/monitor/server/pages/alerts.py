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
MOST_TIMES = 1_000_000

TOLD = {
    "waiting": "waiting",
    "delivered": "delivered",
    "dead": "failed",
    "summed": "failed, and summarized in a later one",
}


@record(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How much evidence of a drop a stream has, for a bar.

    Args:
        share: The share of the bar that is filled.
        needed: Where the alert level lies on the bar, from 0 to 100.
        text: The evidence as a multiple of the alert level, such as `3.3×`.
    """

    share: float
    needed: float
    text: str


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
        """Return the view as dicts and lists, for JSON."""
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
    """Return the name of the rule that a notification is about; empty if it is about none."""
    said = json.loads(letter.body)
    return str(said.get("rule", ""))


def weigh(stream: Stream) -> Evidence | None:
    """Return how much evidence of a drop a stream has; `None` if it collects none."""
    if stream.detector is None or stream.needed is None or stream.needed <= 0:
        return None
    found = stream.log_evidence
    most = max(stream.needed * 1.25, found)
    share = max(found, 0.0) / most if math.isfinite(found) else 0.0
    return Evidence(
        share=share,
        needed=round(100 * stream.needed / most, 2),
        text=write_multiple(found - stream.needed),
    )


def write_multiple(log_ratio: float) -> str:
    """Write a ratio from its logarithm, as a multiple.

    Examples:
        >>> [write_multiple(math.log(ratio)) for ratio in (0.02, 0.5, 3.28, 1800, 5e7)]
        ['<0.1×', '0.5×', '3.3×', '1,800×', '>1,000,000×']
    """
    if log_ratio < math.log(0.1):
        return "<0.1×"
    if log_ratio > math.log(MOST_TIMES):
        return f">{MOST_TIMES:,}×"
    ratio = math.exp(log_ratio)
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"


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
    """Describe a rule in a sentence.

    Examples:
        >>> from rankscope.monitor.alerts.rule import Rule
        >>> describe_rule(Rule(name="quality", measure="nDCG@5", slices=("device",)))
        'Alerts when nDCG@5 drops more than 0.02 below the baseline, checked every day, overall \
and by device. At most one false alarm in 1,800 days, on average.'
    """
    amount = f"{100 * rule.tolerance:g}%" if rule.is_relative else f"{rule.tolerance:g}"
    where = f" for the model {rule.model}" if rule.model is not None else ""
    slices = f" and by {', '.join(rule.slices)}" if rule.slices else ""
    if rule.kind == "drop":
        return (
            f"Alerts when {rule.measure} drops more than {amount} below the baseline, checked "
            f"every {rule.period}, overall{slices}{where}. At most one false alarm in "
            f"{rule.run_length:,.0f} {rule.period}s, on average."
        )
    what = "the whole confidence interval of " if rule.needs == "interval" else ""
    return (
        f"Alerts when {what}{rule.measure} in one {rule.period} is more than {amount} below the "
        f"baseline, overall{slices}{where}."
    )


def trace_of(measure: str, stream: Stream | Fallen | None, now: int | datetime) -> str:
    """Return the address of a trace of the drop of a stream.

    It traces the version of the stream from the beginning of the drop on. The page suggests what to
    compare that with.

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
    summary="Alert rules, alert history and notifications.",
    view=_view_alerts,
    extras=_explain_alerts,
)
