"""The measures of agreement, their names and the values the core computes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankscope._core import compare_rankings
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.names import check_choice, find_closest, quote

if TYPE_CHECKING:
    from collections.abc import Sequence
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


def check_measures(given: Sequence[str] | str) -> list[str]:
    """Return the names of measures, each once."""
    names = [_check(name) for name in ([given] if isinstance(given, str) else given)]
    if not names:
        raise _no_measure("expected a measure of agreement, found none", None)
    return list(dict.fromkeys(names))


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
) -> tuple[list[str], tuple[int, int], int, NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Compare the queries that have documents in both rankings.

    Returns:
        These queries, the number of queries with documents in each of the rankings, the number of
        queries whose lists have the same documents, the number of documents in both lists of each
        query, and by measure the value of each query.
    """
    depths = list(dict.fromkeys(int(name.partition("@")[2]) for name in measures if "@" in name))
    queries, filled, same, common, flat = compare_rankings(one, other, p, ties, depths, threads)
    table = np.frombuffer(memoryview(flat), dtype=np.float64)
    names = ["RBO", "RBO_min", "RBO_max", *CORRELATIONS]
    names += [f"{stem}@{depth}" for stem in AT_DEPTHS for depth in depths]
    known = dict(zip(names, table.reshape(len(names), len(queries)), strict=True))
    known["RBO_residual"] = known["RBO_max"] - known["RBO_min"]
    counts = np.frombuffer(memoryview(common), dtype=np.dtype(common.typecode)).astype(np.int64)
    return queries, filled, same, counts, {name: known[name] for name in measures}


def mean(values: NDArray[np.float64]) -> tuple[float, int]:
    """Return the mean of the values that are defined, and their number."""
    defined = values[values == values].tolist()  # noqa: PLR0124 - NaN alone differs
    return (math.fsum(defined) / len(defined) if defined else math.nan), len(defined)


def _check(name: str) -> str:
    """Return the name of a measure, without leading zeros in its depth."""
    stem, _, text = name.partition("@")
    if name in {*OVERLAPS, *CORRELATIONS}:
        return name
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_DEPTH))
    if stem not in AT_DEPTHS or not is_number or not 0 < int(text) < LARGEST_DEPTH:
        raise _no_measure(f"expected a measure of agreement, found {quote(name)}", name)
    return f"{stem}@{int(text)}"


def _no_measure(message: str, name: object) -> UsageError:
    known = [*OVERLAPS, *CORRELATIONS, *(f"{stem}@10" for stem in AT_DEPTHS)]
    closest = next((each for each in known if each.lower() == str(name).lower()), None)
    closest = closest or find_closest(name, known)
    hint = f"did you mean {closest}?" if closest else f"one of: {', '.join(known)}"
    return UsageError(message, hint=hint, code="unknown_measure")
