"""Small judgments, which every task has, so that the rows of a run can stay where they lie."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.columns import read_ids
from rankscope.records import record
from rankscope.spark.packing import number_queries, read_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.spark.packing import Rows

MOST_ROWS = 1 << 22
"""How many rows of judgments go to every task; where there are more, rows are moved."""


@record(frozen=True, slots=True, kw_only=True)
class SmallJudgments:
    """All judgments, ordered by the number of their query.

    Args:
        table: The rows, as an Arrow table.
        numbers: The number of the query of each row, ascending.
    """

    table: Any
    numbers: NDArray[np.int64]

    def pick(self, queries: NDArray[np.int64]) -> Any:  # noqa: ANN401 - PyArrow has no types
        """Return the rows of some queries, which are ascending numbers, each once."""
        starts = self.numbers.searchsorted(queries)
        counts = self.numbers.searchsorted(queries, side="right") - starts
        ends = np.cumsum(counts)
        places = np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())
        return self.table.take(load_arrow().array(places))

    def drop(self, queries: NDArray[np.int64]) -> Any:  # noqa: ANN401 - as above
        """Return the rows of all queries but some."""
        rest = np.flatnonzero(~np.isin(self.numbers, queries))
        return self.table.take(load_arrow().array(rest))


def order_judgments(table: Any, rows: Rows, *, by_text: bool) -> SmallJudgments:  # noqa: ANN401 - as above
    """Order judgments, which are an Arrow table, by the number of their query."""
    numbers = number_queries(read_columns(table, rows).queries, by_text=by_text)
    order = np.argsort(numbers, kind="stable")
    ordered = table.combine_chunks().take(load_arrow().array(order))
    return SmallJudgments(table=ordered, numbers=numbers[order])


def number_ranked(table: Any, rows: Rows, *, by_text: bool) -> NDArray[np.int64] | None:  # noqa: ANN401 - as above
    """Return the numbers of the queries of a run, ascending."""
    name = rows.names["query"]
    numbers = number_queries(read_ids(table.column(name), name), by_text=by_text)
    starts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    found = np.sort(numbers[np.append(0, starts)])
    return None if np.any(found[1:] == found[:-1]) else found
