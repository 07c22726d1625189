"""The signals of rankings, as arrays with a value for each ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.signals.kinds import DEPTH, NAMES, PERSISTENCE, TOP
from rankscope.monitor.signals.lists import ContextCodes, Lists, find, mix
from rankscope.monitor.signals.reference import Reference

Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ListValues:
    """The signals of some rankings.

    Args:
        columns: The values of each signal but `unseen`; NaN where a signal can't be known.
        unseen: The values of `unseen` by the attributes of a slice.
    """

    columns: Mapping[str, Values]
    unseen: Mapping[tuple[str, ...], Values]

    def list_columns(self, attributes: tuple[str, ...]) -> list[Values]:
        """Return the columns of slices by some attributes, in the order of `NAMES`."""
        return [
            self.unseen[attributes] if name == "unseen" else self.columns[name] for name in NAMES
        ]


def measure_lists(
    lists: Lists,
    codes: ContextCodes,
    references: Mapping[str, Reference],
    dimensions: Sequence[tuple[str, ...]],
) -> ListValues:
    """Compute the signals of rankings, each compared with the reference of its model."""
    columns = {name: np.full(len(lists), np.nan) for name in NAMES if name != "unseen"}
    unseen = {attributes: np.full(len(lists), np.nan) for attributes in dimensions}
    columns |= _measure_scores(lists)
    columns["no_results"] = (lists.sizes == 0).astype(np.float64)
    for model, rows in codes.group_models(lists.contexts):
        reference = references.get(model)
        if reference is None:
            continue
        theirs = lists if len(rows) == len(lists) else lists.take(rows)
        for name, values in _compare(theirs, reference).items():
            columns[name][rows] = values
        for attributes, values in _find_unseen(theirs, codes, reference, dimensions).items():
            unseen[attributes][rows] = values
    return ListValues(columns, unseen)


def _measure_scores(lists: Lists) -> dict[str, Values]:
    """Compute what scores say of the order of a list."""
    owners, scores = lists.owners, lists.scores
    upper, lower = scores[:-1], scores[1:]
    is_pair = (owners[:-1] == owners[1:]) & ~np.isnan(upper) & ~np.isnan(lower)
    of_pair = owners[1:][is_pair]
    tied, ascending = (
        divide(np.bincount(of_pair[chosen[is_pair]], minlength=len(lists)), pairs)
        for pairs in [np.bincount(of_pair, minlength=len(lists))]
        for chosen in (upper == lower, upper < lower)
    )
    is_scored = ~np.isnan(scores)
    scored, of_scored = scores[is_scored], owners[is_scored]
    number = np.bincount(of_scored, minlength=len(lists))
    # Scores of one list stand together: the first of each tells whether another one differs.
    firsts = np.zeros(len(lists))
    firsts[of_scored[::-1]] = scored[::-1]
    differs = np.bincount(of_scored[scored != firsts[of_scored]], minlength=len(lists))
    constant = np.where(number >= 2, (differs == 0).astype(np.float64), np.nan)
    return {"tied": tied, "constant": constant, "ascending": ascending}


def _compare(lists: Lists, reference: Reference) -> dict[str, Values]:
    """Compare lists with a reference."""
    count, owners = len(lists), lists.owners
    with np.errstate(invalid="ignore"):
        length = np.minimum(lists.sizes / reference.length, 1.0)
    is_scored = ~np.isnan(lists.scores)
    of_scored = owners[is_scored]
    ranks = divide(
        np.bincount(of_scored, _rank(lists.scores[is_scored], reference.scores), count),
        2 * len(reference.scores) * np.bincount(of_scored, minlength=count),
    )
    return {"length": length, "score_rank": ranks, "overlap": measure_overlap(lists, reference)}


def _rank(scores: Values, known: Values) -> NDArray[np.int64]:
    """Return how many of some sorted scores are below each score, and up to it, added up."""
    order = np.argsort(scores)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = sum(np.searchsorted(known, scores[order], side) for side in ("left", "right"))
    return ranks


def _find_unseen(
    lists: Lists,
    codes: ContextCodes,
    reference: Reference,
    dimensions: Sequence[tuple[str, ...]],
) -> dict[tuple[str, ...], Values]:
    """Compute the share of the first documents that were not shown before, slice by slice."""
    if not reference.is_full:
        return {}
    top = lists.cut(TOP)
    owners = top.owners
    # By attribute, which documents are new, and which rankings have a slice that is known.
    is_new = {"": find(reference.documents, top.documents) < 0}
    is_known = {"": np.ones(len(top), dtype=np.bool_)}
    for name in codes.attributes:
        hashes = codes.hash_values(name, top.contexts)
        is_known[name] = find(reference.slices[name], hashes) >= 0
        is_new[name] = find(reference.shown[name], mix(top.documents, hashes[owners])) < 0
    values = {}
    for attributes in dimensions:
        names = attributes or ("",)
        is_any = np.logical_or.reduce([is_new[name] for name in names])
        shares = divide(np.bincount(owners[is_any], minlength=len(top)), top.sizes)
        has_all = np.logical_and.reduce([is_known[name] for name in names])
        values[attributes] = np.where(has_all, shares, np.nan)
    return values


def measure_overlap(lists: Lists, reference: Reference) -> Values:
    """Compute how far lists overlap with the last one that their query key had before the day."""
    overlap = np.full(len(lists), np.nan)
    pairs = pair_lists(lists, reference)
    if len(pairs.rows):
        is_deep = pairs.now > DEPTH
        common, now, then = (each[~is_deep] for each in (pairs.common, pairs.now, pairs.then))
        sizes = np.minimum(lists.sizes[pairs.rows], DEPTH)
        overlap[pairs.rows] = _overlap(sizes, pairs.before, common, now, then)
    return overlap


class Pairs(NamedTuple):
    """Lists beside the last one that their query key had before the day.

    Args:
        rows: The places of the lists that have such a list.
        before: The sizes of the earlier lists, at least 1.
        common: For each document that two lists share, the place of its pair of lists, ascending.
        now: Its position in the list, from 1.
        then: Its position in the earlier list.
    """

    rows: NDArray[np.int64]
    before: NDArray[np.int64]
    common: NDArray[np.int64]
    now: NDArray[np.int64]
    then: NDArray[np.int64]


def pair_lists(lists: Lists, reference: Reference) -> Pairs:
    """Find the earlier lists of lists, and the documents that both have."""
    places = find(reference.keys, lists.keys)
    rows = np.flatnonzero(places >= 0)
    whole = lists.take(rows)
    owners = whole.owners
    found = find(reference.listed, mix(whole.documents, whole.keys[owners]))
    is_common = found >= 0
    return Pairs(
        rows,
        reference.sizes[places[rows]],
        owners[is_common],
        whole.positions[is_common],
        reference.positions[found[is_common]],
    )


def _overlap(
    sizes: NDArray[np.int64],
    before: NDArray[np.int64],
    common: NDArray[np.int64],
    now: NDArray[np.int64],
    then: NDArray[np.int64],
) -> Values:
    """Compute the extrapolated rank-biased overlap of lists, 0 where one is empty.

    Args:
        sizes: The sizes of the lists.
        before: The sizes of the earlier lists, at least 1.
        common: For each document that two lists share, the place of its pair of lists, ascending.
        now: Its position in the list, from 1.
        then: Its position in the earlier list.

    References:
        Webber, Moffat and Zobel, *A similarity measure for indefinite rankings*, 2010, equation 32.
    """
    count, p = len(sizes), PERSISTENCE
    ranks = np.arange(1, DEPTH + 1)
    # Sums of p^d and of p^d / d up to each depth.
    powers = np.concatenate([[0.0], np.cumsum(p**ranks)])
    shares = np.concatenate([[0.0], np.cumsum(p**ranks / ranks)])
    shorter, longer = np.minimum(sizes, before), np.maximum(sizes, before)
    depth = np.maximum(now, then)
    # A document that both have counts from the depth on at which both lists have shown it.
    agreed = np.bincount(common, shares[longer[common]] - shares[depth - 1], count)
    in_long = np.bincount(common, minlength=count)
    in_short = np.bincount(common[depth <= shorter[common]], minlength=count)
    share = divide(in_short, shorter)
    beyond = share * (powers[longer] - powers[shorter]) - in_short * (
        shares[longer] - shares[shorter]
    )
    end = (in_long - in_short) / longer + share
    overlap = (1 - p) / p * (agreed + beyond) + end * p**longer
    return np.where(shorter > 0, np.clip(overlap, 0.0, 1.0), 0.0)


def divide(counts: NDArray[np.number], totals: NDArray[np.number]) -> Values:
    """Divide numbers by ranking; NaN where there is nothing to divide by."""
    result = np.full(len(counts), np.nan)
    np.divide(counts, totals, out=result, where=totals > 0)
    return result
