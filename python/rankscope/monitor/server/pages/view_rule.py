"""A rule: how it stands, what it has found, and the form to change it by."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.server.pages.plain import make_plain
from rankscope.monitor.server.pages.rule_form import fill_form, new_form
from rankscope.monitor.slicing import OTHER
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.alerts.alert import Alert
    from rankscope.monitor.alerts.rule_state import RuleState
    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.rule_form import RuleForm

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
        """Give what JSON can hold."""
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
                "expected the name of a rule, found another",
                hint="see the list of rules",
                code="no_rule",
            )
    if form is None:
        form = new_form(monitor.measures[-1]) if state is None else fill_form(state.rule)
    return RuleView(
        configuration=configuration,
        models=tuple(
            dict.fromkeys(one.model for one in monitor.versions() if one.model not in {"", OTHER})
        ),
        now=monitor.now(),
        state=state,
        alerts=tuple(one for one in monitor.alerts(MOST_ALERTS) if one.rule == name),
        form=form,
    )
