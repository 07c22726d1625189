"""The measures of agreement, their names and the values the core computes."""

from __future__ import annotations

import math

from rankscope._core import compare_rankings
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.names import check_choice, find_closest, quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope._core import Rankings, Run

    TieForm: TypeAlias = Literal["a", "b", "w"]

TIES = ("a", "b", "w")
OVERLAPS = ("RBO", "RBO_min", "RBO_max", "RBO_residual")
CORRELATIONS = ("tau", "tau_ap")
AT_DEPTHS = ("overlap", "jaccard")
DEFAULT = ("RBO", "tau", "tau_ap", "overlap@10")
LARGEST_DEPTH = 2**31


@record(frozen=True, slots=True)
class Compared:
    """The values of the queries that have documents in both rankings.

    Args:
        query_ids: The queries.
        filled: The number of queries with documents in each of the rankings.
        same_documents: The number of queries whose lists have the same documents.
        common: The number of documents in both lists of each query.
        values: By measure, the value of each query.
    """

    query_ids: list[str]
    filled: tuple[int, int]
    same_documents: int
    common: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]


def check_measures(given: Sequence[str] | str) -> list[str]:
    """Return the names of measures, each once."""
    names = list(dict.fromkeys([given] if isinstance(given, str) else given))
    if not names:
        raise _no_measure("expected a measure of agreement, found none", None)
    for name in names:
        if name not in {*OVERLAPS, *CORRELATIONS}:
            _read_depth(name)
    return names


def check_settings(p: object, ties: object) -> float:
    """Return the persistence as a number."""
    check_choice("ties", ties, TIES)
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < 1:
        raise UsageError(
            f"expected p between 0 and 1, both excluded, found {quote(p)}",
            hint="p=0.9 gives the first 10 ranks 86 % of the weight",
            code="bad_parameter",
        )
    return float(p)


def compare(
    one: Run | Rankings,
    other: Run | Rankings,
    measures: Sequence[str],
    *,
    p: float,
    ties: str,
    threads: int,
) -> Compared:
    """Compute measures of all queries with documents in both."""
    depths = list(dict.fromkeys(_read_depth(name) for name in measures if "@" in name))
    queries, filled, same, common, flat = compare_rankings(one, other, p, ties, depths, threads)
    table = np.frombuffer(memoryview(flat), dtype=np.float64)
    rows = table.reshape(5 + 2 * len(depths), len(queries))
    known = dict(zip(("RBO", "RBO_min", "RBO_max", *CORRELATIONS), rows, strict=False))
    known["RBO_residual"] = known["RBO_max"] - known["RBO_min"]
    known |= {f"overlap@{depth}": rows[5 + at] for at, depth in enumerate(depths)}
    known |= {f"jaccard@{depth}": rows[5 + len(depths) + at] for at, depth in enumerate(depths)}
    counts = np.frombuffer(memoryview(common), dtype=np.dtype(common.typecode))
    values = {name: known[_spell(name)] for name in measures}
    return Compared(queries, filled, same, counts.astype(np.int64), values)


def mean(values: NDArray[np.float64]) -> tuple[float, int]:
    """Return the mean of the values that are defined, and their number."""
    defined = values[values == values].tolist()  # noqa: PLR0124 - NaN alone differs
    return (math.fsum(defined) / len(defined) if defined else math.nan), len(defined)


def _read_depth(name: str) -> int:
    stem, _, text = name.partition("@")
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_DEPTH))
    if stem not in AT_DEPTHS or not is_number or not 0 < int(text) < LARGEST_DEPTH:
        raise _no_measure(f"expected a measure of agreement, found {quote(name)}", name)
    return int(text)


def _spell(name: str) -> str:
    """Return a name without leading zeros in its depth."""
    stem, at, _ = name.partition("@")
    return f"{stem}@{_read_depth(name)}" if at else name


def _no_measure(message: str, name: object) -> UsageError:
    known = [*OVERLAPS, *CORRELATIONS, *(f"{stem}@10" for stem in AT_DEPTHS)]
    lowered = {each.lower(): each for each in known}
    closest = lowered.get(str(name).lower()) or find_closest(name, known)
    hint = f"did you mean {closest}?" if closest else f"one of: {', '.join(known)}"
    return UsageError(message, hint=hint, code="unknown_measure")
