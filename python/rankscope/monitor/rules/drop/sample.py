"""Rankings with their values and clusters, grouped by context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import Slice, Slicing
from rankscope.monitor.evaluate.clusters import number_clusters
from rankscope.monitor.evaluate.values import Evaluated, evaluate_chunks, leave_out
from rankscope.monitor.rules.drop.rule import DropRule, find_dimension
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.sequential.observations import Observations
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import Chunk, Context

MOST_GRADES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Rankings with their values and clusters, in the order of their contexts.

    Args:
        contexts: The number of what each has in common with others, ascending.
        times: When it was shown, in microseconds since 1970 in UTC.
        clusters: Whose it is: the user, else the query, else itself, as a number made of the name.
        is_labelled: Whether a document of it has a grade that somebody gave.
        labels: How many labels count in it.
        gains: The sum of the grades of its documents that are above 0.
        discounts: By how much the ranks of these grades discount them, on average; NaN where there
            is none.
        values: By measure, its value; NaN where the mean leaves it out. `empty` is 1 where there
            is no relevant document, and else 0.
        grades: How many documents have each grade above 0.
    """

    contexts: NDArray[np.int64]
    times: NDArray[np.int64]
    clusters: NDArray[np.int64]
    is_labelled: NDArray[np.bool_]
    labels: NDArray[np.int64]
    gains: NDArray[np.float64]
    discounts: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]
    grades: dict[float, int]

    def find(self, contexts: Collection[int]) -> NDArray[np.int64]:
        """Return the places of the rankings of some contexts."""
        numbers = np.array(sorted(contexts), dtype=np.int64)
        starts = np.searchsorted(self.contexts, numbers, side="left").tolist()
        ends = np.searchsorted(self.contexts, numbers, side="right").tolist()
        runs = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
        return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)

    def without(self, is_left: NDArray[np.bool_]) -> Sample:
        """Return the rankings that aren't marked; how often their grades occur isn't counted."""
        return self._keep(~is_left) if is_left.any() else self

    def between(self, since: int, until: int) -> Sample:
        """Return the rankings of a time; how often their grades occur isn't counted."""
        return self._keep((self.times >= since) & (self.times < until))

    def _keep(self, kept: NDArray[np.bool_]) -> Sample:
        columns: dict[str, Any] = {name: getattr(self, name)[kept] for name in COLUMNS}
        values = {name: values[kept] for name, values in self.values.items()}
        return Sample(**columns, values=values, grades={})


COLUMNS = tuple(field.name for field in fields(Sample) if field.name not in {"values", "grades"})


@dataclass(frozen=True, slots=True)
class View:
    """What is known of rankings as of a time.

    Args:
        definition: The definition to evaluate with.
        now: The time as of which labels count, in microseconds since 1970 in UTC; without one,
            all labels count, and nothing is pending.
    """

    definition: Definition
    now: int | None


def collect_samples(
    chunks: Iterable[Chunk],
    contexts: Collection[int],
    views: Sequence[View],
    *,
    threads: int | None = None,
) -> list[Sample]:
    """Evaluate the rankings of some contexts whose values are final, in several ways at once.

    The rankings are read once, which takes longer than to evaluate them.
    """
    wanted = np.array(sorted(contexts), dtype=np.int64)
    columns = [_Columns(view.definition) for view in views]
    for read in chunks:
        # Those that count are found once for all views.
        chunk = leave_out(read, views[0].definition.left_out) if views else read
        places = np.flatnonzero(np.isin(chunk.contexts, wanted))
        if not len(places):
            continue
        clusters = number_clusters(chunk, places)
        for view, column in zip(views, columns, strict=True):
            made = evaluate_chunks([chunk], view.definition, now=view.now, threads=threads)
            for each in made:
                column.take(each, places, clusters)
    return [column.finish() for column in columns]


class _Columns:
    """The columns of a sample, chunk by chunk.

    Args:
        definition: The definition that rankings are evaluated with.
    """

    def __init__(self, definition: Definition) -> None:

        self._names = [*(measure.name for measure in definition.measures), EMPTY]
        kinds = (
            *(np.int64, np.int64, np.int64, np.bool_, np.int64),
            *(np.float64 for _ in range(2 + len(self._names))),
        )  # fmt: skip
        self._parts: list[list[NDArray[Any]]] = [[np.empty(0, dtype=kind)] for kind in kinds]
        self._grades: Counter[float] = Counter()

    def take(self, each: Evaluated, places: NDArray[np.int64], clusters: NDArray[np.int64]) -> None:
        """Take the rankings of a chunk whose values are final."""
        chunk, graded = each.chunk, each.graded
        is_final = graded.is_mature[places]
        kept = places[is_final]
        gains, discounts, grades = _discount(each, kept)
        self._grades.update(grades)
        found = [
            chunk.contexts[kept],
            chunk.times[kept],
            clusters[is_final],
            graded.is_labelled[kept],
            np.bincount(graded.aged, minlength=len(chunk.times))[kept],
            gains,
            discounts,
            *(measured.value[kept] for measured in each.values.measures),
            np.where(each.values.is_refused, np.nan, each.values.is_empty)[kept],
        ]
        for parts, more in zip(self._parts, found, strict=True):
            parts.append(more)

    def finish(self) -> Sample:
        """Return the sample."""
        whole = [np.concatenate(parts) for parts in self._parts]
        order = np.argsort(whole[0], kind="stable")
        ordered = [one[order] for one in whole]
        named: dict[str, Any] = dict(zip(COLUMNS, ordered, strict=False))
        return Sample(
            **named,
            values=dict(zip(self._names, ordered[len(COLUMNS) :], strict=True)),
            grades=dict(sorted(self._grades.items())),
        )


def _discount(
    each: Evaluated, kept: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[float, int]]:
    """Return the gains of some rankings, their discounts, and how often each grade occurs."""
    items, relevance = each.chunk.items, each.graded.relevance
    count = len(each.chunk.times)
    rankings = np.repeat(np.arange(count), np.diff(items.offsets))
    is_wanted = np.zeros(count, dtype=np.bool_)
    is_wanted[kept] = True
    is_wanted &= ~each.values.is_refused
    places = np.flatnonzero((relevance > 0) & is_wanted[rankings])
    gain, whose = relevance[places], rankings[places]
    total = np.bincount(whose, gain, count)
    discounted = np.bincount(whose, gain / np.log2(items.ranks[places] + 1), count)
    share = np.divide(discounted, total, out=np.full(count, np.nan), where=total > 0)
    numbers, counts = np.unique(gain, return_counts=True)
    # Grades that are computed can be any number; of those, a few tell enough.
    few = zip(numbers.tolist()[:MOST_GRADES], counts.tolist()[:MOST_GRADES], strict=True)
    discounts: NDArray[np.float64] = np.minimum(share, 1.0)[kept]
    return total.astype(np.float64)[kept], discounts, dict(few)


MOST_CELLS = 60
"""The attributes of a stream make about so many cells at most, so that a baseline stays small."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells that rankings are in.

    Args:
        contexts: What rankings have in common, by number.
        slicing: Which values have slices of their own.
    """

    contexts: Mapping[int, Context]
    slicing: Slicing

    def choose_mix(
        self, rule: DropRule, place: Slice, sample: Sample, rows: NDArray[np.int64]
    ) -> tuple[str, ...]:
        """Return the attributes whose values make the cells of a stream.

        These are the ones that the rule watches, then the other ones of the project, as long as
        there are not too many cells. Those of the slice have one value only, and make none.
        """
        names = [name for name, _ in self.slicing.values]
        watched = [one for name in rule.slices for one in find_dimension(name, names)]
        chosen: tuple[str, ...] = ()
        for name in dict.fromkeys([*watched, *names]):
            if name in dict(place):
                continue
            tried = (*chosen, name)
            _, cells = self._place(sample, rows, tried)
            if len(cells) <= MOST_CELLS:
                chosen = tried
        return chosen

    def observe(
        self,
        values: NDArray[np.float64],
        sample: Sample,
        rows: NDArray[np.int64],
        mix: Sequence[str],
    ) -> Observations:
        """Return the rankings of a stream with the cells that they are in."""
        codes, cells = self._place(sample, rows, mix)
        return Observations(
            value=values,
            cluster=sample.clusters[rows],
            cell=codes,
            time=sample.times[rows],
            cells=cells,
        )

    def _place(
        self, sample: Sample, rows: NDArray[np.int64], mix: Sequence[str]
    ) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
        """Return the cell of each ranking as a number, and the cells."""
        # Rankings are in the order of their contexts, of which there are few.
        at = sample.contexts[rows]
        begins = np.ones(len(at), dtype=np.bool_)
        begins[1:] = at[1:] != at[:-1]
        numbers, of_ranking = at[begins], np.cumsum(begins) - 1
        kept = {name: set(values) for name, values in self.slicing.values}
        codes: dict[tuple[str, ...], int] = {}
        of_number = []
        for number in numbers.tolist():
            said = dict(self.contexts[number].attributes)
            cell = tuple(_fold(said.get(name), kept[name]) for name in mix)
            of_number.append(codes.setdefault(cell, len(codes)))
        return np.array(of_number, dtype=np.int64)[of_ranking], tuple(codes)


def _fold(value: str | None, kept: set[str]) -> str:
    if value is None:
        return ""
    return value if value in kept else OTHER
