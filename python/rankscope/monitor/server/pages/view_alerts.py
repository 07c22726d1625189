"""How the rules stand, what they have found, and who was told."""

from __future__ import annotations

import json
import math

from rankscope.monitor.server.pages.plain import make_plain
from rankscope.monitor.server.pages.view_overview import list_states, read_configuration
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.alerts.alert import Alert
    from rankscope.monitor.alerts.rule_state import RuleState
    from rankscope.monitor.alerts.stream import Stream
    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.store.outbox_rows import Letter

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
    letters: tuple[Letter, ...]

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
        now=monitor.now(),
        rules=() if configuration is None else list_states(monitor),
        alerts=monitor.alerts(MOST),
        letters=monitor.notifications(MOST),
    )


def read_rule_of(letter: Letter) -> str:
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


def _tell(letter: Letter) -> dict[str, Any]:
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
