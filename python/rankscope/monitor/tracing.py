"""Traces a change between two spans of a store: why did it fall?"""

from __future__ import annotations

from contextlib import closing

from rankscope.errors import EmptyError, LimitError, MeasureError
from rankscope.monitor.document_costs import CostCollector, read_catalogue
from rankscope.monitor.queries import collect_queries
from rankscope.monitor.values import name_columns
from rankscope.records import record, replace
from rankscope.stats.arrivals import RANKERS
from rankscope.stats.trace import TraceChoices, trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rankscope.measures import Measure
    from rankscope.monitor.definition import Definition
    from rankscope.monitor.spans import Span
    from rankscope.monitor.store.chunks import Chunk, Context
    from rankscope.monitor.store.protocol import Store, Version
    from rankscope.results.trace import Trace
    from rankscope.stats.query_columns import QueryColumns, TextColumn

MOST_RANKINGS = 250_000
"""How many rankings a window may have: they are held in memory, and 100,000 of 10 documents take
4 s of one core: 3 s to read and evaluate them, and 0.7 s for all intervals, which are BCa."""


def trace_spans(
    store: Store,
    project: str,
    definition: Definition,
    before: Span,
    after: Span,
    *,
    now: int,
    measure: Measure | str | None = None,
    attributes: Collection[str] | None = None,
    choices: TraceChoices | None = None,
    documents: Mapping[str, Sequence[object]] | None = None,
    limit: int = MOST_RANKINGS,
    threads: int | None = None,
) -> Trace:
    """Find out why the mean of a measure changed between two spans.

    Args:
        store: Where the events are.
        project: Whose they are.
        definition: What to measure.
        before: The first window; a set, too, such as that of validation.
        after: The second window.
        now: The moment as of which labels count, in microseconds since 1970 in UTC.
        measure: One of the measures of the definition that has losses, which is nDCG; that of the
            largest cutoff if left out.
        attributes: The attributes to search, 20 at most; all that rankings of both windows have, if
            left out. `model` and `version` are searched, too, where there are several.
        choices: How it is traced.
        documents: A table of documents, such as `{"doc_id": [...], "genre": [...]}`, by whose
            columns what they cost is told apart, beside grade, rank, and whether they were shown
            in the window before.
        limit: How many rankings a window may have.
        threads: How many threads may work.

    Raises:
        UsageError: The measure is not in the definition, or an attribute is unknown.
        MeasureError: It has no losses that add up to 1.
        EmptyError: A window has no mature rankings with a value.
        LimitError: A window has too many rankings, or there are too many attributes.
    """
    choices = TraceChoices() if choices is None else choices
    chosen = find_traced(definition, measure)
    wanted = choices.attributes if attributes is None else tuple(attributes)
    alone = definition.only(chosen)
    catalogue = {} if documents is None else read_catalogue(documents)
    costs = CostCollector(alone, catalogue, None)
    source = _Source(store, project, store.contexts(project), store.versions(project))
    windows = []
    for span in (before, after):
        windows.append(_collect(source, alone, span, costs, now=now, limit=limit, threads=threads))
        costs = CostCollector(alone, catalogue, costs.shown)
    one, other = _leave_out_alike(windows, keep=wanted or ())
    searched = None
    if wanted is not None:
        known = {**one.attributes, **other.attributes}
        searched = tuple(dict.fromkeys((*wanted, *filter(known.__contains__, RANKERS))))
    found = trace(one, other, replace(choices, attributes=searched))
    return replace(found, between=(before.to_dict(), after.to_dict()), definition=definition.hash)


def find_traced(definition: Definition, measure: Measure | str | None = None) -> Measure:
    """Find the measure to trace: the one that is asked for, or that which sees most of a list.

    Raises:
        UsageError: The one asked for is not in the definition.
        MeasureError: None has losses that add up to 1.
    """
    if measure is not None:
        return definition.only(measure).measures[0]
    parted = [each for each in definition.measures if len(name_columns(definition.only(each))) > 1]
    if not parted:
        names = ", ".join(map(str, definition.measures))
        raise MeasureError(
            f"expected a measure whose losses add up to 1 among {names}, found none",
            hint="define nDCG@10 beside them",
            code="losses_unavailable",
        )
    return max(parted, key=lambda each: each.k or 0)


@record(frozen=True, slots=True)
class _Source:
    """A project of a store, with what is read of it once.

    Args:
        store: The store.
        project: The project.
        contexts: What its rankings have in common.
        versions: The versions that have rankings.
    """

    store: Store
    project: str
    contexts: Mapping[int, Context]
    versions: Sequence[Version]


def _collect(
    source: _Source,
    definition: Definition,
    span: Span,
    costs: CostCollector,
    *,
    now: int,
    limit: int,
    threads: int | None,
) -> QueryColumns:
    """Collect the rankings of a span, with all attributes that one of them has."""
    contexts = span.choose(source.contexts)
    time = span.narrow(source.versions)
    names = sorted({name for context in contexts.values() for name, _ in context.attributes})
    if time is None:
        raise _empty(span)
    read = source.store.read(source.project, *time)
    # A reading that is not read to its end holds its snapshot until it is closed.
    with closing(read) as chunks:  # type: ignore[type-var]  # a generator
        try:
            found = collect_queries(
                _count(chunks, contexts, span, limit),
                contexts,
                definition,
                definition.measures[0],
                now=None if span.is_set else now,
                attributes=[*names, *RANKERS],
                costs=costs,
                threads=threads,
            )
        except EmptyError:
            raise _empty(span) from None
    known = {name: column for name, column in found.attributes.items() if column.codes.max() >= 0}
    return replace(found, attributes=known)


def _count(
    chunks: Iterable[Chunk], contexts: Mapping[int, Context], span: Span, limit: int
) -> Iterator[Chunk]:
    """Give chunks, until they have more rankings of a span than may be held."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    wanted = np.array([*contexts], dtype=np.int64)
    count = 0
    for chunk in chunks:
        count += int(np.isin(chunk.contexts, wanted).sum())
        if count > limit:
            raise LimitError(
                f"expected at most {limit} rankings to trace in {span.name}, found more",
                hint="take a shorter span, such as a day",
                code="trace_rankings",
            )
        yield chunk


def _leave_out_alike(
    windows: Sequence[QueryColumns], keep: Collection[str]
) -> tuple[QueryColumns, QueryColumns]:
    """Leave the model and the version out where all rankings of both windows have one."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    def texts(column: TextColumn | None) -> set[str | None]:
        if column is None:
            return {None}
        return {None if code < 0 else column.texts[code] for code in np.unique(column.codes)}

    alike = [
        name
        for name in RANKERS
        if name not in keep
        and len({text for each in windows for text in texts(each.attributes.get(name))}) == 1
    ]
    one, other = (
        replace(
            each,
            attributes={
                name: column for name, column in each.attributes.items() if name not in alike
            },
        )
        for each in windows
    )
    return one, other


def _empty(span: Span) -> EmptyError:
    return EmptyError(
        f"expected mature rankings with a value in {span.name}, found none",
        hint="take a longer span, or wait until attribution windows are closed",
        code="empty_input",
    )
