"""Groups rows with one document each by their ranking."""

from __future__ import annotations

from typing import NamedTuple

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.store.lake.cells import code_values, read_numbers, spread, take, to_marks
from rankscope.monitor.store.tables.documents import offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.cells import Foreign, Marks

OF_DOCUMENTS = {"doc_id", "rank", "score", "relevance"}


class Grouped(NamedTuple):
    """Rows, ranking by ranking.

    Args:
        first: The first row of each ranking, ascending.
        rows: The rows of the first ranking, then those of the next, and so on.
        sizes: How many rows each ranking has.
        marks: Which rankings need a closer look: their rows differ in what all should share, or
            cannot be sorted by score.
    """

    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    marks: Marks

    def choose(self, chosen: NDArray[np.int64]) -> Grouped:
        """Return some rankings with their rows."""
        rows = self.rows[spread(offsets_of(self.sizes), chosen)]
        return Grouped(self.first[chosen], rows, self.sizes[chosen], self.marks[chosen])


def group_rows(
    columns: Mapping[str, Foreign], roles: Mapping[str, str], attributes: Sequence[str]
) -> Grouped:
    """Group rows by ranking.

    Without ranks, the documents of a ranking are sorted by score, and those with one score by
    their ids, descending, as trec_eval does.
    """
    codes, values = code_values(columns[roles["ranking_id"]])
    count = len(values) if len(codes) else 0
    sizes = np.bincount(codes, minlength=count)
    bad = np.zeros(len(codes), dtype=np.bool_)
    if "rank" in roles:
        rows = np.argsort(codes, kind="stable")
    else:
        scores, wrong = read_numbers(columns[roles["score"]])
        bad |= wrong | np.isnan(scores)
        rows = _sort_by_score(codes, scores, columns[roles["doc_id"]])
    # Codes are in the order of first rows.
    first = np.full(count, len(codes), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    of_first = first[codes]
    shared = [name for role, name in roles.items() if role not in OF_DOCUMENTS | {"ranking_id"}]
    for name in (*shared, *attributes):
        bad |= _differs(columns[name], of_first)
    return Grouped(first, rows, sizes, np.bincount(codes[bad], minlength=count) > 0)


def _sort_by_score(
    codes: NDArray[np.int64], scores: NDArray[np.float64], doc_ids: Foreign
) -> NDArray[np.int64]:

    order = np.lexsort((-scores, codes))
    ties = (codes[order][1:] == codes[order][:-1]) & (scores[order][1:] == scores[order][:-1])
    if ties.any():
        compute = load_arrow("pyarrow.compute")
        texts = doc_ids.cast(load_arrow().large_string())
        descending = compute.sort_indices(texts, sort_keys=[("", "descending")]).to_numpy()
        ids = np.empty(len(codes), dtype=np.int64)
        ids[descending] = np.arange(len(codes))
        order = np.lexsort((ids, -scores, codes))
    return np.asarray(order, dtype=np.int64)


def _differs(column: Foreign, of_first: NDArray[np.int64]) -> Marks:
    """Mark the rows that say something else than the first one of their ranking."""
    compute = load_arrow("pyarrow.compute")
    kinds = load_arrow().types
    if kinds.is_nested(column.type):
        codes, _ = code_values(column)
        return np.asarray(codes != codes[of_first])
    other = take(column, of_first)
    is_same = to_marks(compute.equal(column, other))
    is_same |= ~to_marks(column.is_valid()) & ~to_marks(other.is_valid())
    return ~is_same
