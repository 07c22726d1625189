"""The daily signals: how the exposure and the scores of a day are distributed."""

from __future__ import annotations

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.arrays import number_codes
from rankscope.monitor.evaluate.windows import COUNTS, Cell
from rankscope.monitor.signals.kinds import DAILY, NAMES
from rankscope.monitor.store.folding import OTHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.evaluate.stored_windows import StoredCell
    from rankscope.monitor.signals.lists import ContextCodes, Lists
    from rankscope.monitor.signals.reference import Reference

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def add_days(
    cells: Sequence[StoredCell],
    shown: Mapping[str, tuple[Lists, bool]],
    codes: ContextCodes,
    references: Mapping[str, Reference],
) -> list[StoredCell]:
    """Add the daily signals to the cells of a day, by model and version."""
    pairs = {(one.key.model, one.key.version) for one in cells if not one.key.slice}
    values: dict[tuple[str, str], dict[str, float]] = {}
    for model, (lists, _) in shown.items():
        for pair, rows in _group_versions(lists, codes, pairs):
            values[pair] = describe_day(lists.take(rows), references.get(model))
    return [
        one._replace(cell=one.cell.merge(_make_cell(values[pair])))
        if not one.key.slice and (pair := (one.key.model, one.key.version)) in values
        else one
        for one in cells
    ]


def _group_versions(
    lists: Lists, codes: ContextCodes, pairs: Collection[tuple[str, str]]
) -> list[tuple[tuple[str, str], NDArray[np.int64]]]:
    """Return the places of the lists of each version that has a cell of its own."""
    used, inverse = number_codes(lists.contexts)
    versions = [(codes.contexts[n].model, codes.contexts[n].version) for n in used.tolist()]
    kept = [pair if pair in pairs else (pair[0], OTHER) for pair in versions]
    return [
        (pair, np.flatnonzero(np.array([one == pair for one in kept])[inverse]))
        for pair in sorted(set(kept))
    ]


def describe_day(lists: Lists, reference: Reference | None) -> dict[str, float]:
    """Compute the daily signals of some lists; what can't be known is NaN."""
    documents, places = np.unique(lists.documents, return_inverse=True)
    scores = np.sort(lists.scores[~np.isnan(lists.scores)])
    values = dict.fromkeys(DAILY, np.nan)
    values["gini"] = compute_gini(
        np.bincount(places, lists.exposure, len(documents)).astype(np.float64)
    )
    if len(scores):
        quantiles = np.quantile(scores, QUANTILES, method="inverted_cdf").tolist()
        for share, value in zip(QUANTILES, quantiles, strict=True):
            values[f"score_{round(100 * share):02}"] = value
    if reference is not None:
        if reference.is_full and len(reference.documents):
            values["coverage"] = len(documents) / len(reference.documents)
        values["score_distance"] = compute_distance(scores, reference.scores)
    return values


def compute_gini(exposure: NDArray[np.float64]) -> float:
    """Return the Gini coefficient of positive numbers, NaN where there are none.

    Examples:
        >>> import numpy as np
        >>> compute_gini(np.array([1.0, 1.0])), compute_gini(np.array([3.0, 1.0]))
        (0.0, 0.25)
    """
    count = len(exposure)
    if not count:
        return float("nan")
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return float(np.sum(ranks * np.sort(exposure)) / (count * np.sum(exposure)))


def compute_distance(scores: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the Wasserstein distance of sorted scores in standard deviations of the others.

    It is NaN where there are none, or where the others are all the same.

    Examples:
        >>> import numpy as np
        >>> compute_distance(np.array([2.0, 4.0]), np.array([1.0, 3.0]))
        1.0
    """
    if not len(scores) or not len(others) or others[0] == others[-1]:
        return float("nan")
    every = np.sort(np.concatenate([scores, others]))
    # Scores may be as large as numbers are.
    scale = max(abs(every[0]), abs(every[-1]))
    apart = np.abs(
        np.searchsorted(scores, every[:-1], "right") / len(scores)
        - np.searchsorted(others, every[:-1], "right") / len(others)
    )
    distance, spread = np.sum(apart * np.diff(every / scale)), np.std(others / scale)
    return float(distance / spread) if spread > 0 else float("nan")


def _make_cell(values: Mapping[str, float]) -> Cell:
    """Return a cell without rankings that has the daily signals of a version."""
    columns = [np.array([values.get(name, np.nan)]) for name in NAMES]
    sums = _core.sum_groups(np.zeros(1, dtype=np.int64), columns, 1)
    defined = tuple(int(not np.isnan(column[0])) for column in columns)
    return Cell((0,) * len(COUNTS), defined, sums[0])
