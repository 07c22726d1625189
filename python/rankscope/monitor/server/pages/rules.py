"""The rules page: the rules, and the streams that they check."""

from __future__ import annotations

import math

from rankscope.monitor.server.pages.groups import write_multiple
from rankscope.monitor.server.pages.page import Page, list_states, read_configuration
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.rules.state import RuleState
    from rankscope.monitor.rules.stream import Stream


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
class RulesView:
    """The rules of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        rules: How the rules stand.
    """

    configuration: Configuration | None
    now: int
    rules: tuple[RuleState, ...]


def view_rules(monitor: Monitor) -> RulesView:
    """Look at the rules of a project."""
    configuration = read_configuration(monitor)
    return RulesView(
        configuration=configuration,
        now=monitor.clock(),
        rules=() if configuration is None else list_states(monitor),
    )


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


WORDS: dict[str, object] = {"weigh": weigh}

RULES = Page(
    path="/rules",
    place=4,
    here="Rules",
    template="rules.html.j2",
    summary="The rules, and the state of each slice they check.",
    view=lambda monitor, _call: view_rules(monitor),
    extras=lambda _view: WORDS,
)
PAGES = (RULES,)
