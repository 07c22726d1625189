"""The rankings of a span as the columns that a trace compares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._core import TextCodes
from rankscope._settings import count_threads
from rankscope.errors import EmptyError, MeasureError, UsageError
from rankscope.measures import Measure
from rankscope.monitor.arrays import Texts
from rankscope.monitor.ask.document_costs import CostCollector, DocumentCosts
from rankscope.monitor.ask.growing import GrowingColumn
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.clusters import number_clusters
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.values import Evaluated, evaluate_chunks, leave_out, name_columns
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.chunks import choose, offsets_of
from rankscope.monitor.store.records import Chunk, Context
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn, TextList

AMOUNTS = ("value", "truncation", "ordering", "undefined", "ideal")
MOST_CONTEXTS = 2**22
"""Numbers of contexts below this are looked up in a table."""


class QueryCollector:
    """Collects the rankings of a span whose values are final.

    Rankings whose attribution window is open are left out, and so are those that the policy leaves
    out of the mean. Those of one user are one cluster; where users are unknown, those of one query.

    Args:
        contexts: What the rankings that are wanted have in common; others are left out.
        definition: The definition to evaluate with.
        measure: One of its measures, which has losses that add up to 1: nDCG.
        costs: Collects what documents cost.
        sample: Chooses users where there are more rankings than it may have (default: all count).
        has_ids: Whether the IDs of the rankings are kept.

    Raises:
        UsageError: The measure is not in the definition.
        MeasureError: It has no such losses.
    """

    def __init__(
        self,
        contexts: Mapping[int, Context],
        definition: Definition,
        measure: Measure | str,
        *,
        costs: CostCollector,
        sample: UserSample | None = None,
        has_ids: bool = True,
    ) -> None:
        self._definition = definition.only(measure)
        self._name = self._definition.measures[0].name
        if name_columns(self._definition) == (self._name,):
            raise MeasureError(
                f"expected a measure whose losses add up to 1, found {self._name}",
                hint="write nDCG@10",
                code="losses_unavailable",
            )
        self.contexts = contexts
        self._finder = _ContextFinder(contexts)
        self._costs = costs
        self._sample = sample
        self._level = 0
        self._amounts = {name: GrowingColumn() for name in (*AMOUNTS, "relevant")}
        self._places = GrowingColumn()
        self._numbers = GrowingColumn()
        self._keys, self._clusters = _Codes(), _Codes()
        self._ids = _Ids() if has_ids else None
        self.seen = 0
        """How many rankings the span has, with those that have no final value."""

    def read(self, chunks: Iterable[Chunk], *, now: int | None, threads: int | None = None) -> None:
        """Read the rankings and their labels."""
        evaluated = evaluate_chunks(
            self._choose(chunks), self._definition, now=now, threads=threads
        )
        for each, cost in map_ahead(self._costs.measure, evaluated, count_threads(threads)):
            self._take(each, cost)
            while self._sample is not None and len(self._places) > self._sample.most:
                self._sample.halve()
                self.thin()

    def _choose(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks that have wanted rankings, of users who may be in the sample."""
        for read in chunks:
            chunk = leave_out(read, self._definition.left_out)
            is_wanted = self._finder.find(chunk.contexts) >= 0
            count = int(is_wanted.sum())
            self.seen += count
            if not count:
                continue
            self._costs.show(chunk, is_wanted)
            if self._sample is None or not self._sample.level:
                yield chunk
                continue
            places = np.flatnonzero(is_wanted)
            chosen = places[self._sample.has(self._sample.number(chunk, places))]
            if len(chosen):
                yield choose(chunk, chosen)

    def _take(self, each: Evaluated, cost: DocumentCosts | None) -> None:
        """Add the rankings of a chunk that have a final value."""
        chunk, graded = each.chunk, each.graded
        (measured,) = each.values.measures
        places = self._finder.find(chunk.contexts)
        kept = np.flatnonzero((places >= 0) & graded.is_mature & ~np.isnan(measured.value))
        if self._sample is not None:
            numbers = self._sample.number(chunk, kept)
            is_chosen = self._sample.has(numbers)
            kept = kept[is_chosen]
            self._numbers.extend(numbers[is_chosen])
        amounts = {"value": measured.value, **measured.parts}
        for amount in AMOUNTS:
            column = amounts[amount][kept]
            self._amounts[amount].extend(_narrow(column) if amount == "undefined" else column)
        relevant = each.values.relevant[kept]
        narrow = np.min_scalar_type(int(relevant.max(initial=0)))
        self._amounts["relevant"].extend(relevant.astype(narrow))
        self._costs.take(chunk, cost, kept, len(self._places))
        self._places.extend(places[kept])
        self._keys.take([(b"", chunk.query_keys)], kept)
        # A user may be called as a query is.
        self._clusters.take([(b"user ", chunk.user_ids), (b"query ", chunk.query_keys)], kept)
        if self._ids is not None:
            self._ids.take(chunk.ranking_ids, kept)

    def thin(self) -> None:
        """Keep the rankings of users who are in the sample."""
        sample = self._sample
        if sample is None or self._level == sample.level:
            return
        self._level = sample.level
        is_kept = sample.has(self._numbers.values)
        if self._ids is not None:
            self._ids.keep(is_kept)
        self._costs.keep(is_kept)
        for column in (*self._amounts.values(), self._places, self._numbers):
            column.keep(is_kept)
        for texts in (self._keys, self._clusters):
            texts.keep(is_kept)

    def finish(self, attributes: Collection[str] = ()) -> QueryColumns:
        """Return the columns."""
        if not len(self._places):
            raise EmptyError(
                "there are no rankings with a final value",
                hint="take a longer window, or wait until attribution windows are closed",
                code="empty_input",
            )
        self._numbers.finish()
        places = self._places.finish()
        is_used = np.bincount(places, minlength=len(self._finder.wanted)) > 0
        commons = [_name(self.contexts[number]) for number in self._finder.wanted[is_used].tolist()]
        at = (np.cumsum(is_used) - 1)[places]
        named = {}
        for attribute in attributes:
            column = TextColumn.of([common.get(attribute) for common in commons])
            narrow = np.int16 if len(column.texts) < np.iinfo(np.int16).max else np.int32
            named[attribute] = TextColumn(column.texts, column.codes.astype(narrow)[at])
        del places, at
        return QueryColumns(
            measure=self._name,
            retrieval=None,
            relevant=self._amounts["relevant"].finish(),
            key=self._keys.finish(),
            cluster=self._clusters.finish(),
            attributes=named,
            ranking_ids=None if self._ids is None else self._ids.finish(),
            documents=self._costs.finish(),
            **{name: self._amounts[name].finish() for name in AMOUNTS},
        )


class _ContextFinder:
    """Finds the places of contexts among those that are wanted.

    Args:
        contexts: The numbers of those that are wanted.
    """

    def __init__(self, contexts: Collection[int]) -> None:

        self.wanted = np.array(sorted(contexts), dtype=np.int64)
        self._table: NDArray[np.int32] | None = None
        if len(self.wanted) and self.wanted[0] >= 0 and self.wanted[-1] < MOST_CONTEXTS:
            # The last place is that of all numbers above.
            self._table = np.full(int(self.wanted[-1]) + 2, -1, dtype=np.int32)
            self._table[self.wanted] = np.arange(len(self.wanted), dtype=np.int32)

    def find(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the place of each context, -1 where it is not wanted."""
        if not len(self.wanted):
            return np.full(len(numbers), -1, dtype=np.int32)
        if self._table is not None and (not len(numbers) or numbers.min() >= 0):
            return self._table[np.minimum(numbers, len(self._table) - 1)]
        places = np.minimum(np.searchsorted(self.wanted, numbers), len(self.wanted) - 1)
        return np.where(self.wanted[places] == numbers, places, -1).astype(np.int32)


def _narrow(column: NDArray[np.float64]) -> NDArray[Any]:
    """Return numbers as bytes where all are 0 or 1, as what is undefined nearly always is."""
    small = column.astype(np.uint8)
    return small if bool((small == column).all()) else column


class _Codes:
    """A column of texts that grows chunk by chunk, each text kept once."""

    def __init__(self) -> None:
        self._texts = TextCodes()
        self.codes = GrowingColumn()
        self._is_thinned = False

    def take(self, columns: Sequence[tuple[bytes, Texts]], places: NDArray[np.int64]) -> None:
        """Add the texts at some places: the first that is not empty, with its prefix."""
        codes = read_integers(self._texts.number(columns, places))
        self.codes.extend(codes.astype(np.int32))

    def keep(self, is_kept: NDArray[np.bool_]) -> None:
        """Keep some rows."""
        self.codes.keep(is_kept)
        self._is_thinned = True

    def finish(self) -> TextColumn:
        """Return the column."""
        offsets, text = self._texts.texts()
        self._texts = TextCodes()
        texts = TextList(read_integers(offsets), np.frombuffer(memoryview(text), np.uint8))
        codes = self.codes.finish()
        if not self._is_thinned:
            return TextColumn(tuple(texts), codes)
        # The texts of rows that weren't kept are forgotten, as if they had never come.
        used, first = np.unique(codes[codes >= 0], return_index=True)
        used = used[np.argsort(first)]
        numbers = np.full(len(texts) + 1, -1, dtype=np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        return TextColumn(tuple(texts[at] for at in used.tolist()), numbers[codes])


class _Ids:
    """Texts end to end, which grow chunk by chunk."""

    def __init__(self) -> None:
        self._sizes, self._text = GrowingColumn(), GrowingColumn()

    def take(self, column: Texts, places: NDArray[np.int64]) -> None:
        """Add the texts at some places."""
        offsets, text = column
        starts = offsets[places]
        sizes = offsets[places + 1] - starts
        self._sizes.extend(sizes.astype(np.int32))
        self._text.extend(_take_runs(text, starts, sizes))

    def keep(self, is_kept: NDArray[np.bool_]) -> None:
        """Keep some of the texts."""
        sizes, text = self._sizes.finish(), self._text.finish()
        starts = offsets_of(sizes)[:-1][is_kept]
        self._text.extend(_take_runs(text, starts, sizes[is_kept]))
        self._sizes.extend(sizes[is_kept])

    def finish(self) -> TextList:
        """Return the texts."""
        return TextList(offsets_of(self._sizes.finish()), self._text.finish())


def _take_runs(
    text: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return runs of a text, end to end."""
    ends = offsets_of(sizes)
    if len(starts) and starts[-1] + sizes[-1] - starts[0] == ends[-1]:
        # They are one run.
        return text[starts[0] : starts[0] + ends[-1]]
    return text[np.repeat(starts - ends[:-1], sizes) + np.arange(int(ends[-1]))]


def _name(context: Context) -> dict[str, str]:
    """Return the attributes of a context by name, including model and version."""
    rankers = {"model": context.model, "version": context.version}
    return dict(context.attributes) | {name: text for name, text in rankers.items() if text}


HIGHEST = 63
"""The lowest rate is one of 2^63."""


class UserSample:
    """Chooses users so that at most so many of their rankings are traced.

    Users are chosen as a whole, by a hash of their name: where they are unknown, queries, and
    where those are unknown, rankings. So the sample is the same in whatever order rankings come,
    and a user who is in one span of a trace is in the other. The rate is halved until few enough
    rankings are left.

    Args:
        most: How many rankings a span may have, at least 1.

    Raises:
        UsageError: That is not above 0.

    Examples:
        >>> sample = UserSample(1000)
        >>> sample.rate
        1.0
        >>> sample.halve()
        >>> sample.rate
        0.5
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise UsageError(
                f"expected a sample of at least 1 ranking, found {most}",
                hint="omit it to trace all rankings",
                code="bad_parameter",
            )
        self.most = most
        self.level = 0

    @property
    def rate(self) -> float:
        """The probability that a user is in it."""
        return 0.5**self.level

    def halve(self) -> None:
        """Leave out half of the users."""
        self.level = min(self.level + 1, HIGHEST)

    def number(self, chunk: Chunk, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the hash of the user of each ranking at some places of a chunk."""
        return number_clusters(chunk, places).view(np.uint64)

    def has(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which users are in it, by their hashes."""
        if not self.level:
            return np.ones(len(numbers), dtype=np.bool_)
        is_in: NDArray[np.bool_] = numbers >> np.uint64(64 - self.level) == 0
        return is_in
