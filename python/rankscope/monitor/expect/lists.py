"""Rankings as the lists that calibrations and forecasts are made from."""

from __future__ import annotations

from rankscope import _core
from rankscope.deferred import np
from rankscope.measures import nDCG
from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.evaluate.baseline import join_hours
from rankscope.monitor.evaluate.clusters import number_clusters
from rankscope.monitor.evaluate.days import Contexts
from rankscope.monitor.evaluate.grades import read_numbers
from rankscope.monitor.evaluate.values import ChunkPlan, evaluate_chunks, leave_out
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.store.chunks import choose, choose_labels, offsets_of
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record, replace
from rankscope.stats.expected.curves import DEEPEST, Lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankscope.measures import Measure
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.store import StoreReader

    Pair = tuple[str, str]

LARGEST = 1e100
"""Larger scores count as this one, so that sums of scores are finite."""
FIRST = HOUR
"""Labels that come so soon are the first ones, unless that is more than a quarter of the window."""


def list_measures(definition: Definition) -> tuple[Measure, ...]:
    """Return the measures whose values can be expected: nDCG with its losses."""
    if definition.policy.negative == "gain":
        return ()  # Values can be negative then.
    columns = ChunkPlan.of(definition).columns
    return tuple(one for one in definition.measures if one.row == nDCG.row and columns[one][1:])


@record(frozen=True, slots=True)
class Worth:
    """What grades and ranks count in a measure.

    Args:
        measure: The measure.
        discounts: What a gain counts at each rank, relative to the first, down to the cutoff.
        plan: The measure, ready for the core.
    """

    measure: Measure
    discounts: NDArray[np.float64]
    plan: ChunkPlan

    @classmethod
    def of(cls, measure: Measure, definition: Definition) -> Worth:
        """Find it out from lists with one relevant document."""
        plan = ChunkPlan.of(definition.only(measure))
        depth = min(measure.k or DEEPEST, DEEPEST)
        ones = np.ones(depth)
        value, *_ = evaluate_lists(plan, ones.astype(np.int64), np.arange(1, depth + 1), ones)
        return cls(measure, value, plan)

    def gain(self, grades: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gains of documents; that of the ungraded is 0."""
        used, places = np.unique(np.nan_to_num(grades), return_inverse=True)
        first = np.ones(len(used), dtype=np.int64)
        *_, ideal = evaluate_lists(self.plan, first, first, used)
        return np.nan_to_num(ideal)[places]


def evaluate_lists(
    plan: ChunkPlan, sizes: NDArray[np.int64], ranks: NDArray[np.int64], grades: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the value and the parts of a measure for lists of documents at some ranks."""
    count = len(ranks)
    text = np.arange(count + 1), np.full(count, ord("a"), dtype=np.uint8)
    items = offsets_of(sizes), text, ranks, np.full(count, np.nan), grades
    columns, _ = _core.evaluate_items(items, plan.choices)
    [places] = plan.columns.values()
    return [read_numbers(columns[place]) for place in places]


@record(frozen=True, slots=True)
class Part:
    """Rankings, and what is known of them.

    Args:
        contexts: The numbers of what they have in common with others.
        lists: Their lists.
        grades: The grades of their documents.
        values: By measure, their values; NaN where there is none.
        early: By measure, their values by their first labels; NaN where these said nothing.
    """

    contexts: NDArray[np.int64]
    lists: Lists
    grades: NDArray[np.float64]
    values: NDArray[np.float64]
    early: NDArray[np.float64]

    def choose(self, rows: NDArray[np.int64]) -> Part:
        """Return some of the rankings."""
        lists, documents = self.lists.choose(rows)
        grades = self.grades[documents]
        return Part(self.contexts[rows], lists, grades, self.values[:, rows], self.early[:, rows])


def join_parts(parts: Sequence[Part]) -> Part:
    """Return the rankings of several parts, at least one."""
    offsets = offsets_of(np.concatenate([np.diff(part.lists.offsets) for part in parts]))
    names = ("ranks", "scores", "hours", "clusters", "groups")
    columns = [np.concatenate([getattr(part.lists, name) for part in parts]) for name in names]
    return Part(
        np.concatenate([part.contexts for part in parts]),
        Lists(offsets, *columns),
        np.concatenate([part.grades for part in parts]),
        np.concatenate([part.values for part in parts], axis=1),
        np.concatenate([part.early for part in parts], axis=1),
    )


class ListReader:
    """Reads the rankings of production.

    Args:
        store: The store.
        project: The name of the project.
        definition: What is measured.
        slicing: The slices.
    """

    def __init__(
        self, store: StoreReader, project: str, definition: Definition, slicing: Slicing
    ) -> None:
        self.store, self.project, self.slicing = store, project, slicing
        self.contexts = Contexts(store, project)
        self.measures = list_measures(definition)
        self._definition = definition
        self._numbers = [definition.measures.index(one) for one in self.measures]
        self._first = min(FIRST, definition.window * SECOND // 4)
        self.groups: tuple[Slice, ...] = tuple(
            ((name, value),)
            for name, values in slicing.values
            for value in (*values, OTHER, MISSING)
        )
        """The slices by one attribute."""
        self._places = {group: place for place, group in enumerate(self.groups)}

    def read(self, since: int, until: int, *, now: int | None) -> list[Part]:
        """Read rankings of a span with what is known of them.

        Args:
            since: When it begins.
            until: When it ends.
            now: As of when labels count, and rankings are final; without it, only the first labels
                count, and all rankings are returned.
        """
        parts = []
        for read in self.store.read(self.project, since, until):
            chunk = leave_out(read, self._definition.left_out)
            used, inverse = np.unique(chunk.contexts, return_inverse=True)
            environments = [self.contexts[number].environment for number in used.tolist()]
            is_shown = np.array([one == "production" for one in environments])[inverse]
            if is_shown.any():
                parts.append(self._take(choose(chunk, np.flatnonzero(is_shown)), now))
        return parts

    def read_hours(
        self, starts: Sequence[int], *, now: int | None
    ) -> Iterator[tuple[int, Part | None]]:
        """Read hours, ascending, each as `read` does; consecutive ones together."""
        for begin, end in join_hours(starts):
            parts = self.read(begin, end, now=now)
            whole = join_parts(parts) if parts else None
            for start in range(begin, end, HOUR):
                part = None
                if whole is not None:
                    rows = np.flatnonzero(whole.lists.hours == start // HOUR)
                    part = whole.choose(rows) if len(rows) else None
                yield start, part

    def _take(self, chunk: Chunk, now: int | None) -> Part:
        labels = chunk.labels
        is_first = labels.times - chunk.times[labels.rankings] <= self._first
        first = replace(chunk, labels=choose_labels(labels, np.flatnonzero(is_first)))
        [early] = evaluate_chunks([first], self._definition, now=None, threads=1)
        values = self._list_values(early.values)
        first_values = np.where(early.values.is_empty, np.nan, values)
        grades, kept = early.graded.relevance, np.arange(len(chunk.times))
        if now is not None:
            [final] = evaluate_chunks([chunk], self._definition, now=now, threads=1)
            values, grades = self._list_values(final.values), final.graded.relevance
            kept = np.flatnonzero(final.graded.is_mature & ~final.values.is_refused)
        lists = Lists(
            chunk.items.offsets,
            chunk.items.ranks,
            np.clip(chunk.items.scores, -LARGEST, LARGEST),
            chunk.times // HOUR,
            number_clusters(chunk, np.arange(len(chunk.times))),
            self._group(chunk.contexts),
        )
        return Part(chunk.contexts, lists, grades, values, first_values).choose(kept)

    def _list_values(self, values: object) -> NDArray[np.float64]:
        measures = values.measures  # type: ignore[attr-defined]
        columns = [measures[number].value for number in self._numbers]
        return np.array(columns).reshape(len(columns), -1)

    def _group(self, contexts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the slices that rankings are in, a column for each attribute."""
        used, inverse = np.unique(contexts, return_inverse=True)
        found = [self.contexts[number] for number in used.tolist()]
        names = [name for name, _ in self.slicing.values]
        table = np.array(
            [
                [self._places[((name, value),)] for value in self.slicing.place(found, name)]
                for name in names
            ],
            dtype=np.int64,
        ).reshape(len(names), len(used))
        return table.T[inverse]

    def split(self, contexts: NDArray[np.int64]) -> list[tuple[Pair, NDArray[np.int64]]]:
        """Return the models and versions of rankings, and the places of theirs."""
        used, inverse = np.unique(contexts, return_inverse=True)
        pairs = [
            (self.contexts[number].model, self.contexts[number].version) for number in used.tolist()
        ]
        names = sorted(set(pairs))
        codes = np.array([names.index(pair) for pair in pairs], dtype=np.int64)[inverse]
        return [(pair, np.flatnonzero(codes == code)) for code, pair in enumerate(names)]
