"""Compares two sets of rules on one input, by rule, query and document."""

from __future__ import annotations

import math

from rankscope.conventions.rules import write
from rankscope.deferred import np
from rankscope.errors import RankscopeError
from rankscope.reconciliation.convention_difference import (
    Difference,
    QueryDifference,
    RuleDifference,
)
from rankscope.reconciliation.explanations import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.conventions.rules import Rules
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.reconciliation.workbench import RuleOutcome, Workbench

CLOSE = 1e-12
"""Values of a query that differ by less are one value."""


def differ(
    bench: Workbench, one: tuple[str, Rules], other: tuple[str, Rules], *, limit: int
) -> Difference:
    """Return what causes the difference between two sets of rules."""
    (name, rules), (other_name, others) = one, other
    first, second = _evaluated(bench, rules), _evaluated(bench, others)
    mine, theirs = first.values, second.values
    ours, other_ours = rules.to_dict(), others.to_dict()
    responsible: dict[str, NDArray[np.bool_]] = {}
    changes = []
    for rule in rules.differ(others):
        exchanged = _exchange(bench, rules, rule, others)
        changed = _unlike(mine, exchanged.values) if exchanged else None
        returned = _exchange(bench, others, rule, rules)
        back = _unlike(theirs, returned.values) if returned else None
        masks = [mask for mask in (changed, back) if mask is not None]
        if masks:
            responsible[rule] = masks[0] if len(masks) == 1 else masks[0] | masks[1]
        changes.append(
            RuleDifference(
                rule,
                write(ours[rule]),
                write(other_ours[rule]),
                0 if changed is None else int(changed.sum()),
                exchanged.value if exchanged else math.nan,
            )
        )
    queries = _list_queries(first.evaluation, mine, theirs, responsible)
    explained = explain(bench, (rules, others), queries[:limit])
    return Difference(
        one=name,
        other=other_name,
        measures=(rules.measure.name, others.measure.name),
        values=(first.value, second.value),
        rules=tuple(changes),
        queries=(*explained, *queries[limit:]),
        explained=len(explained),
    )


def _evaluated(bench: Workbench, rules: Rules) -> RuleOutcome:
    outcome = bench.outcome(rules)
    if isinstance(outcome, RankscopeError):
        raise outcome
    return outcome


def _exchange(bench: Workbench, rules: Rules, rule: str, others: Rules) -> RuleOutcome | None:
    """Evaluate by rules with one of them exchanged, if they fit together."""
    try:
        return _evaluated(bench, rules.take(rule, others.to_dict()[rule]))
    except RankscopeError:
        return None


def _unlike(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:

    unlike: NDArray[np.bool_] = ~np.isclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    return unlike


def _list_queries(
    evaluation: Evaluation,
    mine: NDArray[np.float64],
    theirs: NDArray[np.float64],
    responsible: dict[str, NDArray[np.bool_]],
) -> list[QueryDifference]:
    """List the queries with two values, the largest difference first."""
    # A query that only one of them counts differs by as much as can be.
    sizes = np.nan_to_num(np.abs(mine - theirs), nan=np.inf)
    places = np.flatnonzero(_unlike(mine, theirs)).tolist()
    ids = evaluation.query_texts
    return [
        QueryDifference(
            ids[place],
            float(mine[place]),
            float(theirs[place]),
            tuple(rule for rule, mask in responsible.items() if mask[place]),
        )
        for place in sorted(places, key=lambda place: (-sizes[place], ids[place]))
    ]
