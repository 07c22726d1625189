"""How alike two ranked lists are: Kendall's tau, tau_ap, overlap, RBO and Jaccard."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._core import Rankings, Run, compare_rankings
from rankscope._names import check_choice, find_closest, is_real, quote
from rankscope.errors import UsageError

__all__ = ["jaccard", "kendall_tau", "overlap", "rbo", "tau_ap"]

TieForm: TypeAlias = Literal["a", "b", "w"]
RankedList: TypeAlias = Sequence[object] | Mapping[Hashable, float]


TIES = ("a", "b", "w")
OVERLAPS = ("RBO", "RBO_min", "RBO_max", "RBO_residual")
CORRELATIONS = ("tau", "tau_ap")
AT_DEPTHS = ("overlap", "jaccard")
DEFAULT = ("RBO", "tau", "tau_ap", "overlap@10")
LARGEST_DEPTH = 2**31


def check_measures(measures: Sequence[str] | str) -> list[str]:
    """Return the names of measures, each once."""
    names = [_check(name) for name in ([measures] if isinstance(measures, str) else measures)]
    if not names:
        raise _no_measure("expected a measure of agreement, found none", None)
    return list(dict.fromkeys(names))


def check_settings(p: object, ties: object) -> float:
    """Return the persistence as a number."""
    check_choice("ties", ties, TIES)
    if not is_real(p) or not 0 < p < 1:  # type: ignore[operator]  # a number
        hint = "p=0.9 gives the first 10 ranks 86 % of the weight"
        raise _refuse(f"expected p between 0 and 1, both excluded, found {quote(p)}", hint)
    return float(p)  # type: ignore[arg-type]  # a number


class ComparedQueries(NamedTuple):
    """The queries that have documents in both rankings, and the values of each by measure."""

    queries: list[str]
    filled: tuple[int, int]
    """How many queries have documents in each of the rankings."""
    same: int
    """How many queries have the same documents in both."""
    common: NDArray[np.int64]
    """How many documents both lists of each query have."""
    values: dict[str, NDArray[np.float64]]


def compare(
    one: Run | Rankings,
    other: Run | Rankings,
    measures: Sequence[str],
    *,
    p: float,
    ties: str,
    threads: int,
) -> ComparedQueries:
    """Compare the queries that have documents in both rankings."""
    depths = list(dict.fromkeys(int(name.partition("@")[2]) for name in measures if "@" in name))
    queries, filled, same, common, flat = compare_rankings(one, other, p, ties, depths, threads)
    names = ["RBO", "RBO_min", "RBO_max", *CORRELATIONS]
    names += [f"{stem}@{depth}" for stem in AT_DEPTHS for depth in depths]
    table = np.frombuffer(memoryview(flat), dtype=np.float64).reshape(len(names), len(queries))
    values = dict(zip(names, table, strict=True))
    values["RBO_residual"] = values["RBO_max"] - values["RBO_min"]
    counts = np.frombuffer(memoryview(common), dtype=np.dtype(common.typecode)).astype(np.int64)
    return ComparedQueries(queries, filled, same, counts, {name: values[name] for name in measures})


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
    names = [*OVERLAPS, *CORRELATIONS, *(f"{stem}@10" for stem in AT_DEPTHS)]
    closest = {name.lower(): name for name in names}.get(str(name).lower())
    closest = closest or find_closest(name, names)
    hint = f"did you mean {closest}?" if closest else f"one of: {', '.join(names)}"
    return UsageError(message, hint=hint, code="unknown_measure")


FORMS = {"extrapolated": "RBO", "min": "RBO_min", "max": "RBO_max", "residual": "RBO_residual"}


def rbo(
    list_a: RankedList,
    list_b: RankedList,
    *,
    p: float = 0.9,
    ties: TieForm = "a",
    form: Literal["extrapolated", "min", "max", "residual"] = "extrapolated",
) -> float:
    """Return the rank-biased overlap of two ranked lists, which may have different items.

    Args:
        list_a: The items in rank order, each an id, or a set or list of ids that are tied; or a
            mapping of id to score, of which the largest ranks first.
        list_b: The other list.
        p: The persistence, between 0 and 1: how much each rank weighs, compared with the one above.
        ties: What a tie means, as in `agreement`: `"a"` (the expected value over all orders),
            `"b"` (corrected for the information that ties hide) or `"w"` (the same rank).
        form: What is assumed about ranks below the lists: `"extrapolated"` (they agree as the lists
            do), `"min"` (nothing in common), `"max"` (as much in common as possible) or
            `"residual"` (the difference of the two).

    Raises:
        UsageError: An argument is invalid, a list is empty, or an item is twice in a list.

    References:
        Webber, Moffat and Zobel, *A similarity measure for indefinite rankings*, 2010; with ties,
        Corsi and Urbano, *The treatment of ties in rank-biased overlap*, 2024.

    Examples:
        >>> one = ["red", {"blue", "green"}, "yellow", "pink"]
        >>> other = [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"]
        >>> [round(rbo(one, other, p=0.95, ties=ties), 4) for ties in "abw"]
        [0.6923, 0.7207, 0.7068]
    """
    check_choice("form", form, FORMS)
    return _compare(list_a, list_b, FORMS[form], p=p, ties=ties)


def kendall_tau(list_a: RankedList, list_b: RankedList, *, ties: Literal["a", "b"] = "b") -> float:
    """Return Kendall's tau of the items that are in both lists; NaN if it is undefined.

    Args:
        list_a: As in `rbo`.
        list_b: The other list.
        ties: `"a"` divides by all pairs of items, so that a tie counts as 0, which is also the
            expected value over all orders. `"b"` divides by the pairs that are not tied, so that a
            list agrees with itself (Kendall, *The treatment of ties in ranking problems*, 1945).

    Raises:
        UsageError: An argument is invalid, a list is empty, or an item is twice in a list.

    Examples:
        >>> kendall_tau(["a", "b", "c"], ["a", "c", "b"])
        0.333...
        >>> kendall_tau({"a": 3, "b": 1, "c": 1}, ["a", "c", "b"], ties="a")
        0.666...
    """
    check_choice("ties", ties, ("a", "b"))
    return _compare(list_a, list_b, "tau", ties=ties)


def tau_ap(list_a: RankedList, list_b: RankedList, *, ties: Literal["a", "b"] = "a") -> float:
    """Return the tau that gives swaps at the top of the second list more weight.

    It compares the items that are in both lists, and is NaN for fewer than two.

    Args:
        list_a: The reference, as in `rbo`.
        list_b: The list that is compared with it, from the top.
        ties: `"a"` is the expected value over all orders of tied items. `"b"` compares groups of
            tied items as a whole, and is the mean of both directions (Urbano and Marrero, *The
            treatment of ties in AP correlation*, 2017).

    Raises:
        UsageError: An argument is invalid, a list is empty, or an item is twice in a list.

    References:
        Yilmaz, Aslam and Robertson, *A new rank correlation coefficient for information retrieval*,
        2008.

    Examples:
        >>> tau_ap(["a", "b", "c", "d"], ["b", "a", "c", "d"])
        0.333...
        >>> tau_ap(["a", "b", "c", "d"], ["a", "b", "d", "c"])
        0.777...
    """
    check_choice("ties", ties, ("a", "b"))
    return _compare(list_a, list_b, "tau_ap", ties=ties)


def overlap(list_a: RankedList, list_b: RankedList, k: int, *, ties: TieForm = "a") -> float:
    """Return the share of the first `k` items that both lists have.

    Args:
        list_a: As in `rbo`.
        list_b: The other list.
        k: The depth. If both lists are shorter, it is the length of the longer one.
        ties: As in `rbo`.

    Raises:
        UsageError: An argument is invalid, a list is empty, or an item is twice in a list.

    Examples:
        >>> overlap(["a", "b", "c"], ["b", "d", "a"], 2)
        0.5
        >>> overlap([{"a", "b"}], ["a", "b"], 1)
        0.5
    """
    return _compare(list_a, list_b, f"overlap@{_read_depth(k)}", ties=ties)


def jaccard(list_a: RankedList, list_b: RankedList, k: int, *, ties: TieForm = "a") -> float:
    """Return how many of the first `k` items both lists have, divided by those in either.

    Args:
        list_a: As in `rbo`.
        list_b: The other list.
        k: The depth, as in `overlap`.
        ties: As in `rbo`; with `"a"` and `"b"`, it is the ratio of the expected counts.

    Raises:
        UsageError: An argument is invalid, a list is empty, or an item is twice in a list.

    Examples:
        >>> jaccard(["a", "b", "c"], ["b", "d", "a"], 2)
        0.333...
    """
    return _compare(list_a, list_b, f"jaccard@{_read_depth(k)}", ties=ties)


def _compare(
    list_a: RankedList, list_b: RankedList, measure: str, *, p: float = 0.9, ties: str
) -> float:
    persistence = check_settings(p, ties)
    codes: dict[Hashable, str] = {}
    one, other = (
        Run.from_dict({"lists": _to_scores(ranked, name, codes)}, "float64")
        for ranked, name in ((list_a, "list_a"), (list_b, "list_b"))
    )
    compared = compare(one, other, [measure], p=persistence, ties=ties, threads=1)
    return float(compared.values[measure][0])


def _to_scores(ranked: object, name: str, codes: dict[Hashable, str]) -> dict[str, float]:
    """Return the score of each item by its code, which both lists share."""
    if not isinstance(ranked, Mapping | Sequence) or isinstance(ranked, str | bytes):
        raise _refuse(
            f"expected {name} as a list of ids or a mapping of id to score, found {quote(ranked)}",
            "write ['a', {'b', 'c'}], with tied ids in a set",
        )
    scores: dict[str, float] = {}
    items = ranked.items() if isinstance(ranked, Mapping) else _score_items(ranked)
    for item, score in items:
        code = codes.setdefault(item, str(len(codes)))
        if code in scores:
            raise _refuse(f"{name} has {quote(item)} twice", "keep one of them")
        scores[code] = score
    if not scores:
        raise _refuse(f"{name} is empty", "pass lists with at least one item")
    return scores


def _score_items(ranked: Sequence[Any]) -> Iterator[tuple[Hashable, float]]:
    for place, item in enumerate(ranked):
        for member in item if isinstance(item, AbstractSet | list | tuple) else (item,):
            yield member, -float(place)


def _read_depth(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or not 0 < k < LARGEST_DEPTH:
        raise _refuse(f"expected k as a positive integer, found {quote(k)}", "write k=10")
    return k


def _refuse(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad_parameter")
