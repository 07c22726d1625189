"""What a rule has looked at so far, for each kind of rule."""

from __future__ import annotations

from rankscope.monitor.alerts.data_run import DataProgress, begin_data
from rankscope.monitor.alerts.detect.progress import RuleProgress, begin
from rankscope.monitor.alerts.nightly_run import NightlyProgress, begin_nights
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.alerts.rule_run import name_basis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import RuleRow


def begin_progress(rule: Rule, configuration: Configuration, *, now: int, seq: int) -> str:
    """Return the stored progress of a rule that has looked at no period yet."""
    if rule.kind == "data":
        return begin_data(rule, now).to_json()
    basis = name_basis(rule, configuration)
    if rule.kind == "trace":
        return begin_nights(rule, basis, now).to_json()
    return begin(rule, basis, now, seq).to_text()


def read_progress(row: RuleRow) -> RuleProgress | DataProgress | NightlyProgress:
    """Return the progress of a rule from its stored row."""
    kind = Rule.from_json(row.rule).kind
    if kind == "data":
        return DataProgress.from_json(row.progress)
    if kind == "trace":
        return NightlyProgress.from_json(row.progress)
    return RuleProgress.from_text(row.progress)
