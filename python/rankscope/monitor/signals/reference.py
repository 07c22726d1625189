"""What a day is compared with: the lists that a model showed on the days before it."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.evaluate.baseline import join_hours
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.signals.kinds import DEPTH, REFERENCE_DAYS
from rankscope.monitor.signals.lists import NO_KEY, PRODUCTION, ContextCodes, Lists, mix, read_lists
from rankscope.monitor.store.folding import MOST_MODELS
from rankscope.monitor.store.store import StoreReader

MOST_RANKINGS = 100_000
"""The rankings of all references of a day together: each model has the same part of them."""
MOST_DOCUMENTS = 1_000_000
"""The documents that these rankings show, likewise."""
MOST_KEPT = 2 * MOST_DOCUMENTS
"""With more numbers than this, some 20 MB, references in memory are forgotten before the next."""
MOST_SCORES = 10_000
"""Of more scores, every so many are kept of a sorted list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a model showed on the days before a day.

    Args:
        is_full: Whether it has all 7 days, or as many rankings as it may have, or all days that
            are kept: only then a document that it lacks is a new one.
        length: The median length of lists with documents; NaN where there is none.
        scores: The scores, ascending, or `MOST_SCORES` of them at regular places.
        documents: The different documents, ascending.
        slices: By attribute, the slices that have lists, ascending.
        shown: By attribute, the pairs of a document and the slice that showed it, ascending.
        keys: The query keys that have a list, ascending.
        shares: Which share of the rankings has each of them.
        sizes: How many documents of the last list of each key count, at most `DEPTH`.
        listed: The pairs of a key and a document of its last list, ascending.
        positions: The position of each of these documents in its list, from 1.
    """

    is_full: bool
    length: float
    scores: NDArray[np.float64]
    documents: NDArray[np.int64]
    slices: Mapping[str, NDArray[np.int64]]
    shown: Mapping[str, NDArray[np.int64]]
    keys: NDArray[np.int64]
    shares: NDArray[np.float64]
    sizes: NDArray[np.int64]
    listed: NDArray[np.int64]
    positions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.documents) + len(self.listed) + sum(map(len, self.shown.values()))


_KEPT: WeakKeyDictionary[StoreReader, dict[object, tuple[int, dict[str, Reference]]]] = (
    WeakKeyDictionary()
)


def find_references(
    store: StoreReader, project: str, codes: ContextCodes, day: int
) -> dict[str, Reference]:
    """Return the references of a day by model; those of the last day stay in memory."""
    kept = _KEPT.setdefault(store, {})
    place = project, codes.slicing.dimensions()
    if place not in kept or kept[place][0] != day:
        built = build_references(store, project, codes, day)
        sizes = [sum(map(len, references.values())) for _, references in kept.values()]
        if sum(sizes) > MOST_KEPT:
            kept.clear()
        kept[place] = day, built
    return kept[place][1]


def build_references(
    store: StoreReader, project: str, codes: ContextCodes, day: int
) -> dict[str, Reference]:
    """Build the references of a day by model: of the models with the most rankings before it."""
    since = day - REFERENCE_DAYS * DAY
    shown = collect_lists(store, project, codes, list_hours(store, project, codes, since, day))
    first: dict[str, int] = {}
    for version in store.versions(project):
        if version.environment == PRODUCTION:
            first[version.model] = min(version.first, first.get(version.model, version.first))
    deleted = store.deleted_before(project)
    is_deleted = deleted is not None and deleted > since
    return {
        model: make_reference(
            lists, codes, is_full=is_cut or is_deleted or first.get(model, day) < since + HOUR
        )
        for model, (lists, is_cut) in shown.items()
    }


def list_hours(
    store: StoreReader,
    project: str,
    codes: ContextCodes,
    since: int,
    until: int,
) -> dict[str, Counter[int]]:
    """Return by model how many rankings in production each hour of a span has."""
    counts: dict[str, Counter[int]] = {}
    for start, number, count in store.count_by_hour(project, since, until):
        context = codes.contexts[number]
        if context.environment == PRODUCTION:
            counts.setdefault(context.model, Counter())[start] += count
    return counts


def collect_lists(
    store: StoreReader,
    project: str,
    codes: ContextCodes,
    counts: Mapping[str, Counter[int]],
) -> dict[str, tuple[Lists, bool]]:
    """Collect the newest lists of the models with the most of them, and whether others are older.

    Args:
        store: The store.
        project: The name of the project.
        codes: The contexts of the project.
        counts: By model, how many rankings each hour has.
    """
    totals = {model: sum(hours.values()) for model, hours in counts.items()}
    models = nsmallest(MOST_MODELS, totals, key=lambda model: (-totals[model], model))
    if not models:
        return {}
    most = MOST_RANKINGS // len(models)
    newest = {model: _Newest(most, MOST_DOCUMENTS // len(models)) for model in models}
    wanted = sorted({hour for model in models for hour in _list_newest(counts[model], most)})
    for begin, end in join_hours(wanted):
        for chunk in store.read(project, begin, end):
            lists = read_lists(chunk, codes.choose(chunk))
            for model, places in codes.group_models(lists.contexts):
                if model in newest:
                    newest[model].add(lists.take(places))
    return {model: kept.finish(totals[model]) for model, kept in newest.items()}


def _list_newest(hours: Counter[int], most: int) -> list[int]:
    """List the newest hours that have so many rankings together."""
    listed: list[int] = []
    total = 0
    for start in sorted(hours, reverse=True):
        if total >= most:
            break
        listed.append(start)
        total += hours[start]
    return listed


class _Newest:
    """Keeps the newest lists, at most so many rankings and documents.

    Args:
        rankings: How many rankings.
        documents: How many documents.
    """

    def __init__(self, rankings: int, documents: int) -> None:
        self._most = rankings, documents
        self._pieces: deque[Lists] = deque()
        self._has = [0, 0]

    def add(self, lists: Lists) -> None:
        """Add lists that are newer than those before."""
        self._pieces.append(lists)
        self._count(lists, 1)
        # The oldest piece is needed as long as there is room for a part of it.
        while (
            any(
                has - of_oldest >= most
                for has, of_oldest, most in zip(
                    self._has, self._measure(self._pieces[0]), self._most, strict=True
                )
            )
            and len(self._pieces) > 1
        ):
            self._count(self._pieces.popleft(), -1)

    @staticmethod
    def _measure(lists: Lists) -> tuple[int, int]:
        return len(lists), len(lists.documents)

    def _count(self, lists: Lists, sign: int) -> None:
        for at, size in enumerate(self._measure(lists)):
            self._has[at] += sign * size

    def finish(self, total: int) -> tuple[Lists, bool]:
        """Return the lists, and whether they are fewer than there are in all."""
        joined = Lists.join(self._pieces)
        rankings, documents = self._most
        first = int(np.searchsorted(joined.offsets, joined.offsets[-1] - documents))
        first = max(first, len(joined) - rankings, 0)
        return joined.take(np.arange(first, len(joined))), len(joined) - first < total


def make_reference(lists: Lists, codes: ContextCodes, *, is_full: bool) -> Reference:
    """Make the reference that some lists are."""
    sizes = lists.sizes
    owners = np.repeat(np.arange(len(lists)), sizes)
    slices, shown = {}, {}
    for name in codes.attributes:
        hashes = codes.hash_values(name, lists.contexts)
        slices[name] = np.unique(hashes)
        shown[name] = np.unique(mix(lists.documents, hashes[owners]))
    is_listed = (lists.keys != NO_KEY) & (sizes > 0)
    rows = np.flatnonzero(is_listed)[::-1]
    keys, newest, counts = np.unique(lists.keys[rows], return_index=True, return_counts=True)
    last = lists.take(rows[newest]).cut(DEPTH)
    of_key = last.sizes
    listed = mix(last.documents, np.repeat(keys, of_key))
    order = np.argsort(listed)
    return Reference(
        is_full=is_full,
        length=float(np.median(sizes[sizes > 0])) if sizes.any() else math.nan,
        scores=_thin(np.sort(lists.scores[~np.isnan(lists.scores)])),
        documents=np.unique(lists.documents),
        slices=slices,
        shown=shown,
        keys=keys,
        shares=counts / max(len(lists), 1),
        sizes=of_key,
        listed=listed[order],
        positions=last.positions[order],
    )


def _thin(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores at regular places among sorted ones where there are too many."""
    if len(scores) <= MOST_SCORES:
        return scores
    return scores[((np.arange(MOST_SCORES) + 0.5) * (len(scores) / MOST_SCORES)).astype(np.int64)]
