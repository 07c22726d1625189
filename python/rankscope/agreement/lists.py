"""How far two single lists agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from rankscope._core import Run
from rankscope.agreement.measures import LARGEST_DEPTH, check_settings, compare
from rankscope.errors import UsageError
from rankscope.names import check_choice, quote

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import Any, Literal, TypeAlias

    from rankscope.agreement.measures import TieForm

    RankedList: TypeAlias = Sequence[object] | Mapping[Hashable, float]

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
    *_, values = compare(one, other, [measure], p=persistence, ties=ties, threads=1)
    return float(values[measure][0])


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
