"""The kinds of alert rules, and what people can set of them.

`KINDS` is the only list of kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.monitor.rules.data.run import KIND as DATA
from rankscope.monitor.rules.drop.run import KIND as DROP
from rankscope.monitor.rules.limit import KIND as LIMIT
from rankscope.monitor.rules.rule import Rule, register
from rankscope.monitor.rules.trace.run import KIND as TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.monitor.rules.kind import Kind, Problem
    from rankscope.monitor.rules.run import Progress
    from rankscope.monitor.store.records import RuleRow

KINDS: Mapping[str, Kind] = {register(kind.record): kind for kind in (DROP, LIMIT, DATA, TRACE)}
PROBLEMS: Mapping[str, Problem] = {
    name: problem for kind in KINDS.values() for name, problem in kind.problems.items()
}
"""The kinds of incidents."""
__all__ = ["KINDS", "PROBLEMS", "Rule", "find_kind", "read_progress"]


def find_kind(row: RuleRow) -> Kind:
    """Return the kind of a stored rule."""
    return KINDS[Rule.from_json(row.rule).kind]


def read_progress(row: RuleRow) -> Progress:
    """Return what a stored rule has looked at."""
    return find_kind(row).read_progress(row.progress)
