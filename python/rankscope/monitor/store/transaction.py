"""One transaction that writes: the numbers and counters of what it stores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, text, update

from rankscope.monitor.events.bins import Bins, Content
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.log.tally import DELETED, TallyChange
from rankscope.monitor.store.log.writer import LogWriter
from rankscope.monitor.store.tables.projects import read_bins
from rankscope.monitor.store.tables.schema import contexts, projects
from rankscope.monitor.store.tables.statements import Prepared
from rankscope.monitor.store.tables.versions import RankingSpan, add_rankings

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection


MOST_CACHED = 100_000

# Made once: making these statements takes longer than running them.
ADD_PENDING = Prepared(
    update(projects)
    .where(projects.c.project_id == bindparam("project"))
    .values(pending=projects.c.pending + bindparam("more"))
)
ADD_COUNT = Prepared(
    text(
        "INSERT INTO counters (project_id, reason, count) VALUES (:project, :why, :more) "
        "ON CONFLICT (project_id, reason) DO UPDATE SET count = counters.count + excluded.count"
    )
)


class NumberCache:
    """The numbers of projects and contexts that are stored, and the bins of attributes.

    The writer keeps them in memory.
    """

    def __init__(self) -> None:
        self.projects: dict[str, int] = {}
        self.bins: dict[str, Bins] = {}
        self.contexts: dict[tuple[object, ...], int] = {}

    def clear(self) -> None:
        """Forget all of them."""
        self.projects.clear()
        self.bins.clear()
        self.contexts.clear()

    def update(self, new: NumberCache) -> None:
        """Add numbers once the transaction that made them is committed."""
        if len(self.contexts) + len(new.contexts) > MOST_CACHED:
            self.contexts.clear()
        self.projects |= new.projects
        self.bins |= new.bins
        self.contexts |= new.contexts


class Transaction:
    """A transaction of the writer; what it collects counts only once it is committed.

    Attributes:
        connection: The connection, within the transaction.
        seq: The number of the last event so far.
        log: Takes the new events.
        tally: What changes in the number and the digest of blocks.
        deleted: What changes in those of the ids of deleted events.
        counts: What to add to the counters, by project and reason.
        rankings: The new rankings, by context.
        pending: How many more labels have no ranking, by project.
        secrets: The new secrets of webhooks and people by their ids. The backend stores them
            before it commits, so that nobody is ever without their secret.
        changes_secrets: Whether there may be secrets that nobody uses afterwards. The backend
            removes them after the commit.
        deletes: Whether events are deleted, which the backend keeps in no file of its own.
        new_numbers: The numbers that this transaction made or read.
    """

    def __init__(self, connection: Connection, seq: int, cache: NumberCache) -> None:
        self.connection = connection
        self.seq = seq
        self.log = LogWriter(self)
        self.tally = TallyChange()
        self.deleted = TallyChange(DELETED)
        self.counts: Counter[tuple[int, str]] = Counter()
        self.rankings: dict[int, RankingSpan] = {}
        self.pending: Counter[int] = Counter()
        self.secrets: dict[str, Secret] = {}
        self.changes_secrets = False
        self.deletes = False
        self.new_numbers = NumberCache()
        self._cache = cache

    def forget_numbers(self) -> None:
        """Look up all numbers again: some of the rows were deleted."""
        self._cache.clear()
        self.new_numbers.clear()

    def next_seq(self) -> int:
        """Return the number of the next event."""
        self.seq += 1
        return self.seq

    def project(self, name: str) -> int:
        """Return the number of a project, which is made if it is new."""
        number = self._cache.projects.get(name) or self.new_numbers.projects.get(name)
        if number is None:
            number = self._number(projects.c.project_id, {"name": name}, {"pending": 0})
            self.new_numbers.projects[name] = number
        return number

    def bins(self, project: str) -> Bins:
        """Return the edges of bins of the attributes of a project that are numbers."""
        for cache in (self.new_numbers, self._cache):
            if project in cache.bins:
                return cache.bins[project]
        return self.new_numbers.bins.setdefault(project, read_bins(self.connection, project))

    def context(self, project_id: int, content: Content) -> int:
        """Return the number of a context, which is made if it is new."""
        model, version, environment, attributes = content
        key = (project_id, *content)
        number = self._cache.contexts.get(key) or self.new_numbers.contexts.get(key)
        if number is None:
            digest = blake2b(json.dumps(content).encode(), digest_size=16).digest()
            row = {
                "model": model,
                "version": version,
                "environment": environment,
                "attributes": json.dumps(dict(attributes)),
                "rankings": 0,
            }
            own = {"project_id": project_id, "digest": digest}
            number = self._number(contexts.c.context_id, own, row)
            self.new_numbers.contexts[key] = number
        return number

    def _number(
        self, column: Column[int], key: Mapping[str, object], values: Mapping[str, object]
    ) -> int:
        """Return the number of the row with a key, which is made if it isn't there."""
        table = column.table
        wanted = select(column).where(*(table.c[name] == value for name, value in key.items()))
        number = self.connection.execute(wanted).scalar_one_or_none()
        if number is None:
            made = insert(table).values({**key, **values}).returning(column)
            number = self.connection.execute(made).scalar_one()
        return int(number)

    def add_rankings(self, context_id: int, new: RankingSpan) -> None:
        """Count new rankings of a context."""
        before = self.rankings.get(context_id)
        self.rankings[context_id] = new if before is None else before.merge(new)

    def require_evaluator(self) -> None:
        """Refuse to write windows where another process evaluates the store."""

    def flush_rankings(self) -> None:
        """Write the rankings of contexts that were collected."""
        rankings, self.rankings = self.rankings, {}
        add_rankings(self.connection, rankings)

    def flush(self) -> None:
        """Write the events and the counters that were collected."""
        self.log.settle()
        self.tally.write(self.connection)
        self.deleted.write(self.connection)
        self.flush_rankings()
        for project_id, count in self.pending.items():
            if count:
                ADD_PENDING.run(self.connection, project=project_id, more=count)
        for (project_id, reason), count in self.counts.items():
            ADD_COUNT.run(self.connection, project=project_id, why=reason, more=count)
