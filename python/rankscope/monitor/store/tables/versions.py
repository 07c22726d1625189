"""The number of rankings of each version of a model, and the times of the first and the last.

They are kept with the contexts of rankings, so that no ranking has to be read to list versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, case, func, or_, select, update

from rankscope.monitor.events.bins import Bins, bin_attributes
from rankscope.monitor.events.event import Environment
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.mismatch import PRODUCTION
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.folding import Pair, choose_versions
from rankscope.monitor.store.records import Context, Version
from rankscope.monitor.store.tables.projects import read_bins
from rankscope.monitor.store.tables.schema import contexts
from rankscope.monitor.store.tables.statements import Prepared, fetch_rows, in_project, parse_stored

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Connection, Update


AT_ONCE = 10_000
RECENT = 28 * DAY
"""A version counts as in use for this long after its last ranking, seen from the last of all."""


class RankingSpan(NamedTuple):
    """A number of rankings, and the times of the first and the last of them."""

    rankings: int
    first: int
    last: int

    def merge(self, other: RankingSpan) -> RankingSpan:
        """Return the sum of this and other rankings."""
        return RankingSpan(
            self.rankings + other.rankings,
            min(self.first, other.first),
            max(self.last, other.last),
        )


def _write_addition() -> Update:
    first: BindParameter[int] = bindparam("new_first")
    last: BindParameter[int] = bindparam("new_last")
    is_first = or_(contexts.c.first.is_(None), contexts.c.first > first)
    is_last = or_(contexts.c.last.is_(None), contexts.c.last < last)
    return (
        update(contexts)
        .where(contexts.c.context_id == bindparam("context"))
        .values(
            rankings=contexts.c.rankings + bindparam("count"),
            first=case((is_first, first), else_=contexts.c.first),
            last=case((is_last, last), else_=contexts.c.last),
        )
    )


# Made once: making it takes as long as running it.
ADD_RANKINGS = Prepared(_write_addition())


def add_rankings(connection: Connection, added: Mapping[int, RankingSpan]) -> None:
    """Add new rankings to the counts of their contexts."""
    rows = [
        {"context": context, "count": new.rankings, "new_first": new.first, "new_last": new.last}
        for context, new in added.items()
    ]
    if rows:
        ADD_RANKINGS.run_each(connection, rows)


def list_versions(connection: Connection, project: str) -> list[Version]:
    """List the versions that have rankings, by model, and the versions of a model by time.

    Where an environment has more than `MOST_VERSIONS`, those with the most rankings are listed,
    first among those that ranked in the last `RECENT`. The others are summed as `<other>`.
    """
    table = contexts
    columns = (table.c.environment, table.c.model, table.c.version)
    result = connection.execute(
        select(*columns, table.c.rankings, table.c.first, table.c.last).where(
            in_project(table.c.project_id, project), table.c.rankings > 0
        ),
        execution_options={"stream_results": True},
    )
    spans: dict[Environment, dict[Pair, RankingSpan]] = {}
    # Summed here: SQLite would sort all rows first, which takes longer.
    while rows := fetch_rows(result, AT_ONCE):
        check_deadline()
        for environment, model, version, *span in rows:
            of_environment = spans.setdefault(environment, {})
            new, before = RankingSpan(*span), of_environment.get((model, version))
            of_environment[model, version] = new if before is None else before.merge(new)
    listed = [version for item in spans.items() for version in _fold(*item)]
    return sorted(listed, key=lambda one: (one.model, one.first, one.version, one.environment))


def _fold(environment: Environment, spans: Mapping[Pair, RankingSpan]) -> Iterator[Version]:
    """List the versions of an environment, those that are too many as one."""
    recent = max(span.last for span in spans.values()) - RECENT
    # More than all rankings, so that no number of older ones outweighs a recent version.
    bonus = sum(span.rankings for span in spans.values()) + 1
    weights = {
        pair: span.rankings + (bonus if span.last >= recent else 0) for pair, span in spans.items()
    }
    folding = choose_versions(weights)
    folded: dict[Pair, list[RankingSpan]] = {}
    for pair, span in spans.items():
        if pair in folding.pairs:
            yield Version(*pair, environment, span.first, span.last, span.rankings)
        else:
            folded.setdefault(folding.place(*pair), []).append(span)
    for pair, others in folded.items():
        span = reduce(RankingSpan.merge, others)
        yield Version(*pair, environment, span.first, span.last, span.rankings, len(others))


def find_newest_time(connection: Connection, project: str) -> int | None:
    """Return the time of the newest ranking in production, `None` if there is none."""
    newest: int | None = connection.scalar(
        select(func.max(contexts.c.last)).where(
            in_project(contexts.c.project_id, project), contexts.c.environment == PRODUCTION
        )
    )
    return newest


def read_contexts(connection: Connection, project: str) -> dict[int, Context]:
    """Return the contexts of a project by their numbers.

    Numbers that were logged before their attribute had bins are in bins, too.
    """
    is_theirs = in_project(contexts.c.project_id, project)
    return _select_contexts(connection, is_theirs, read_bins(connection, project))


def read_contexts_of(connection: Connection, project_id: int) -> dict[int, Context]:
    """Return the contexts of the project with a number, by their own numbers."""
    return _select_contexts(connection, contexts.c.project_id == project_id)


def _select_contexts(
    connection: Connection, is_theirs: ColumnElement[bool], bins: Bins | None = None
) -> dict[int, Context]:
    rows = connection.execute(select(contexts).where(is_theirs))
    return {row.context_id: _to_context(row, bins or {}) for row in rows}


def _to_context(row: Any, bins: Bins) -> Context:  # noqa: ANN401 - a row of any statement with its columns
    attributes = bin_attributes(tuple(sorted(parse_stored(row.attributes).items())), bins)
    return Context(row.model, row.version, row.environment, attributes)
