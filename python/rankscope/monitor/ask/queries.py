"""The rankings of a span as the columns that a trace compares."""

from __future__ import annotations

from rankscope._core import TextCodes
from rankscope.engine import count_threads
from rankscope.errors import EmptyError, MeasureError
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.values import evaluate_chunks, map_ahead, name_columns
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.stats.trace.query_columns import QueryColumns, TextColumn, TextList

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.measures import Measure
    from rankscope.monitor.ask.document_costs import CostCollector
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.store.records import Chunk, Context, Texts

AMOUNTS = ("value", "truncation", "ordering", "undefined", "ideal")


def collect_queries(
    chunks: Iterable[Chunk],
    contexts: Mapping[int, Context],
    definition: Definition,
    measure: Measure | str,
    *,
    now: int | None,
    attributes: Collection[str] = (),
    costs: CostCollector | None = None,
    threads: int | None = None,
) -> QueryColumns:
    """Collect the rankings whose values are final.

    Rankings whose attribution window is open are left out, and so are those that the policy leaves
    out of the mean. Those of one user are one cluster; where users are unknown, those of one query.

    Args:
        chunks: The rankings and their labels.
        contexts: What the rankings that are wanted have in common; others are left out.
        definition: The definition to evaluate with.
        measure: One of its measures, which has losses that add up to 1: nDCG.
        now: The time as of which labels count, in microseconds since 1970 in UTC; without one,
            all labels count.
        attributes: By what rankings are to be sliced; `model` and `version` are those that ranked.
        costs: Collects what documents cost, where that is asked for.
        threads: The number of threads.

    Raises:
        UsageError: The measure is not in the definition.
        MeasureError: It has no such losses.
        EmptyError: There is no such ranking.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    alone = definition.only(measure)
    name = alone.measures[0].name
    if name_columns(alone) == (name,):
        raise MeasureError(
            f"expected a measure whose losses add up to 1, found {name}",
            hint="write nDCG@10",
            code="losses_unavailable",
        )
    wanted = np.array(sorted(contexts), dtype=np.int64)
    amounts: list[list[NDArray[np.float64]]] = []
    keys, clusters, ranking_ids = _Codes(), _Codes(), _Ids()
    places: list[NDArray[np.int64]] = []
    count = 0
    some = (chunk for chunk in chunks if np.isin(chunk.contexts, wanted).any())
    evaluated = evaluate_chunks(some, alone, now=now, threads=threads)
    measure_costs = _leave_costs if costs is None else costs.measure
    for each, cost in map_ahead(measure_costs, evaluated, count_threads(threads)):
        chunk, graded = each.chunk, each.graded
        (measured,) = each.values.measures
        is_kept = np.isin(chunk.contexts, wanted) & graded.is_mature & ~np.isnan(measured.value)
        kept = np.flatnonzero(is_kept)
        columns = [getattr(measured, amount) for amount in AMOUNTS]
        amounts.append([column[kept] for column in (*columns, each.values.relevant.astype(float))])
        places.append(np.searchsorted(wanted, chunk.contexts[kept]).astype(np.int32))
        if costs is not None:
            costs.take(chunk, cost, kept, count)
        count += len(kept)
        keys.take([(b"", chunk.query_keys)], kept)
        # A user may be called as a query is.
        clusters.take([(b"user ", chunk.user_ids), (b"query ", chunk.query_keys)], kept)
        ranking_ids.take(chunk.ranking_ids, kept)
    if not count:
        raise EmptyError(
            "there are no rankings with a final value",
            hint="take a longer window, or wait until attribution windows are closed",
            code="empty_input",
        )
    used, at = np.unique(np.concatenate(places), return_inverse=True)
    commons = [_name(contexts[number]) for number in wanted[used].tolist()]
    named = {
        attribute: TextColumn.of([one.get(attribute) for one in commons])
        for attribute in attributes
    }
    # The pieces of a column are forgotten before the next one is joined.
    value, truncation, ordering, undefined, ideal, relevant = (
        np.concatenate([piece.pop(0) for piece in amounts]) for _ in range(len(AMOUNTS) + 1)
    )
    return QueryColumns(
        measure=name,
        retrieval=None,
        relevant=relevant,
        key=keys.finish(),
        cluster=clusters.finish(),
        attributes={
            attribute: TextColumn(column.texts, column.codes[at])
            for attribute, column in named.items()
        },
        ranking_ids=ranking_ids.finish(),
        documents=None if costs is None else costs.finish(),
        value=value,
        truncation=truncation,
        ordering=ordering,
        undefined=undefined,
        ideal=ideal,
    )


def _leave_costs(each: Evaluated) -> tuple[Evaluated, None]:
    """Measure no costs."""
    return each, None


class _Codes:
    """A column of texts that grows chunk by chunk, each text kept once."""

    def __init__(self) -> None:
        self._texts = TextCodes()
        self._codes: list[NDArray[np.int32]] = []

    def take(self, columns: Sequence[tuple[bytes, Texts]], places: NDArray[np.int64]) -> None:
        """Add the texts at some places: the first that is not empty, with its prefix."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        codes = read_integers(self._texts.number(columns, places))
        self._codes.append(codes.astype(np.int32))

    def finish(self) -> TextColumn:
        """Return the column."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        offsets, text = self._texts.texts()
        texts = TextList(read_integers(offsets), np.frombuffer(memoryview(text), np.uint8))
        return TextColumn(tuple(texts), np.concatenate(self._codes))


class _Ids:
    """Texts end to end, which grow chunk by chunk."""

    def __init__(self) -> None:
        self._sizes: list[NDArray[np.int64]] = []
        self._text = bytearray()

    def take(self, column: Texts, places: NDArray[np.int64]) -> None:
        """Add the texts at some places."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        offsets, text = column
        starts, ends = offsets[places], offsets[places + 1]
        sizes = ends - starts
        self._sizes.append(sizes)
        if len(places) == len(offsets) - 1:
            self._text += text[offsets[0] : offsets[-1]].tobytes()
            return
        within = np.arange(int(sizes.sum())) - np.repeat(offsets_of(sizes)[:-1], sizes)
        self._text += text[np.repeat(starts, sizes) + within].tobytes()

    def finish(self) -> TextList:
        """Return the texts."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        sizes = np.concatenate(self._sizes)
        return TextList(offsets_of(sizes), np.frombuffer(self._text, np.uint8))


def _name(context: Context) -> dict[str, str]:
    """Return the attributes of a context by name, including model and version."""
    rankers = {"model": context.model, "version": context.version}
    return dict(context.attributes) | {name: text for name, text in rankers.items() if text}
