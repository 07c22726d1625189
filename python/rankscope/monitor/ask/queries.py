"""The rankings of a span as the columns that a trace compares."""

from __future__ import annotations

from rankscope.errors import EmptyError, MeasureError
from rankscope.monitor.evaluate.grades import grade_chunk
from rankscope.monitor.evaluate.values import evaluate_chunk, name_columns
from rankscope.stats.trace.query_columns import QueryColumns, TextColumn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.measures import Measure
    from rankscope.monitor.ask.document_costs import CostCollector
    from rankscope.monitor.definition.definition import Definition
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
    keys: list[str | None] = []
    clusters: list[str | None] = []
    ranking_ids: list[str | None] = []
    places: list[NDArray[np.int64]] = []
    for chunk in chunks:
        is_wanted = np.isin(chunk.contexts, wanted)
        if not is_wanted.any():
            continue
        graded = grade_chunk(chunk, alone, now)
        values = evaluate_chunk(chunk, graded, alone, threads)
        (measured,) = values.measures
        kept = np.flatnonzero(is_wanted & graded.is_mature & ~np.isnan(measured.value))
        columns = [getattr(measured, amount) for amount in AMOUNTS]
        amounts.append([column[kept] for column in (*columns, values.relevant.astype(float))])
        places.append(np.searchsorted(wanted, chunk.contexts[kept]))
        if costs is not None:
            costs.take(chunk, graded, kept, len(keys))
        chosen = kept.tolist()
        queries, users = (_read(column, chosen) for column in (chunk.query_keys, chunk.user_ids))
        keys += queries
        ranking_ids += _read(chunk.ranking_ids, chosen)
        # A user may be called as a query is.
        clusters += [
            f"user {user}" if user is not None else None if query is None else f"query {query}"
            for user, query in zip(users, queries, strict=True)
        ]
    if not keys:
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
    *numbers, relevant = map(np.concatenate, zip(*amounts, strict=True))
    value, truncation, ordering, undefined, ideal = numbers
    return QueryColumns(
        measure=name,
        retrieval=None,
        relevant=relevant,
        key=TextColumn.of(keys),
        cluster=TextColumn.of(clusters),
        attributes={
            attribute: TextColumn(column.texts, column.codes[at])
            for attribute, column in named.items()
        },
        ranking_ids=[each or "" for each in ranking_ids],
        documents=None if costs is None else costs.finish(),
        value=value,
        truncation=truncation,
        ordering=ordering,
        undefined=undefined,
        ideal=ideal,
    )


def _name(context: Context) -> dict[str, str]:
    """Return the attributes of a context by name, including model and version."""
    rankers = {"model": context.model, "version": context.version}
    return dict(context.attributes) | {name: text for name, text in rankers.items() if text}


def _read(column: Texts, places: list[int]) -> list[str | None]:
    """Return the texts at some places; an empty text is unknown."""
    offsets, text = column[0].tolist(), column[1].tobytes()
    return [text[offsets[place] : offsets[place + 1]].decode() or None for place in places]
