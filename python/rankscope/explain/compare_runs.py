"""Compares two runs query by query, and by what each of them lost."""

from __future__ import annotations

import math

from rankscope.data.diagnostics import describe
from rankscope.errors import EmptyError
from rankscope.records import record
from rankscope.results import Losses, Table
from rankscope.results.run_difference import RunDifference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.diagnostics import Diagnostic
    from rankscope.data.policy import Policy
    from rankscope.measures import Measure
    from rankscope.results import Bounds, Evaluation
    from rankscope.results.run_difference import DocumentMoves

CLOSE = 1e-12
"""Values of a query that differ by less are the same."""
ROUNDING = 1e-9
"""So do ideals."""


@record(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs, evaluated.

    Args:
        name: What the run is called.
        means: The mean of the value and of what was lost, by name, `value` first.
        columns: The same query by query; NaN where the policy leaves a query out.
        notes: What was suspicious but legal.
    """

    name: str
    means: Mapping[str, float]
    columns: Mapping[str, NDArray[np.float64]]
    notes: Sequence[Diagnostic]

    @classmethod
    def of(cls, name: str, made: Losses | Evaluation, measure: Measure) -> Side:
        """Take the values of a run, with its losses where they are known."""
        if isinstance(made, Losses):
            columns = {each: made.array(each) for each in made.means}
            return cls(name=name, means=made.means, columns=columns, notes=made.notes)
        means, columns = {"value": made[measure]}, {"value": made.per_query(measure)}
        return cls(name=name, means=means, columns=columns, notes=made.notes)


def find_unpaired(one: Side, other: Side) -> NDArray[np.bool_]:
    """Find the queries that the policy leaves out of one run only.

    Raises:
        EmptyError: There are some, and no query has a value under both runs.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    none, neither = np.isnan(one.columns["value"]), np.isnan(other.columns["value"])
    unpaired: NDArray[np.bool_] = none != neither
    if unpaired.any() and (none | neither).all():
        raise EmptyError(
            "expected queries for which both runs have a value, found none",
            hint="say missing=zero, to count a query that is not in a run as an empty list",
            code="no_common_queries",
        )
    return unpaired


def compare_runs(
    sides: tuple[Side, Side],
    *,
    measure: Measure,
    policy: Policy,
    read_ids: Callable[[], list[str]],
    unpaired: int,
    observes_retrieval: bool,
    explain: Callable[[str], DocumentMoves],
    bound: Callable[[Iterable[float] | None], Bounds],
) -> RunDifference:
    """Compare two runs.

    Args:
        sides: The runs, over the same queries in the same order.
        measure: The measure.
        policy: The policy.
        read_ids: Gives the identifiers of the queries.
        unpaired: How many queries only one of them has a value for.
        observes_retrieval: Whether documents are known that were not retrieved.
        explain: Says what became of the documents of a query.
        bound: Bounds the difference, whatever the unjudged documents are.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    one, other = sides
    mine, theirs = one.columns["value"], other.columns["value"]
    difference = theirs - mine
    is_same = np.isclose(mine, theirs, rtol=CLOSE, atol=CLOSE)
    is_won, is_lost = (difference > 0) & ~is_same, (difference < 0) & ~is_same
    paired = np.flatnonzero(~np.isnan(difference))
    order = paired[np.argsort(-abs(np.where(is_same, 0, difference))[paired], kind="stable")]
    terms = [name for name in one.means if name != "value"]
    ids = read_ids()
    # What is lost no more is gained.
    split = {name: one.columns[name] - other.columns[name] for name in terms}
    means = {name: one.means[name] - other.means[name] for name in terms}
    if terms:
        # A row adds up to its ideal.
        ideal: NDArray[np.float64] = difference - np.sum([*split.values()], axis=0)
        if (abs(ideal) > ROUNDING).any():
            split["ideal"] = ideal
            means["ideal"] = math.fsum([*other.means.values(), *(-m for m in one.means.values())])
    columns = {"a": mine, "b": theirs, "difference": difference, **split}
    notes = dict.fromkeys([*one.notes, *other.notes])
    if unpaired:
        notes[describe("unpaired_queries", unpaired, {})] = None
    return RunDifference(
        measure=measure,
        policy=policy,
        names=(one.name, other.name),
        values=(one.means["value"], other.means["value"]),
        terms=means,
        wins=int(is_won.sum()),
        ties=len(paired) - int(is_won.sum()) - int(is_lost.sum()),
        losses_=int(is_lost.sum()),
        queries=Table(
            {
                "query_id": lambda: [ids[query] for query in order.tolist()],
                **{name: column[order] for name, column in columns.items()},
            }
        ),
        observes_retrieval=observes_retrieval,
        notes=tuple(notes),
        explain=explain,
        bound=bound,
    )
