"""One transaction of the writer: numbers, projects, contexts and counters of what it stores."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from hashlib import blake2b

from sqlalchemy import insert, select, update

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import driver_of
from rankscope.monitor.store.tables.schema import contexts, counters, projects, webhooks
from rankscope.monitor.store.tables.versions import Shown, count_shown
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Ranking
    from rankscope.monitor.store.keys import Secret
    from rankscope.monitor.store.sqlite.high_water import Mark
    from rankscope.monitor.store.sqlite.secrets import SecretFile

NUMBER = "UPDATE meta SET value = ? WHERE name = ?"
MOST_KEPT = 100_000


class Known:
    """Projects and contexts that are stored, by what they say; the writer keeps them."""

    def __init__(self) -> None:
        self.projects: dict[str, int] = {}
        self.contexts: dict[tuple[object, ...], int] = {}


class Transaction:
    """What a piece of work stores with; it counts only once the transaction is committed.

    Attributes:
        connection: The connection, within the transaction.
        seq: The number of the last event so far.
        counts: By project and reason, what is to be added to the counters.
        shown: By context, the rankings that are new.
        pending: By project, how many more labels there are whose rankings are not there.
        secrets: Writes the secrets of webhooks.
    """

    def __init__(
        self, connection: Connection, mark: Mark, known: Known, secret_file: SecretFile
    ) -> None:
        self.connection = connection
        self.seq = mark.seq
        self.secrets = _UsedSecrets(secret_file)
        self._mark = mark
        self._changes = driver_of(connection).total_changes
        self.counts: Counter[tuple[int, str]] = Counter()
        self.shown: dict[int, Shown] = {}
        self.pending: Counter[int] = Counter()
        self._known = known
        self._new = Known()

    def next_seq(self) -> int:
        """Give the number of the next event."""
        self.seq += 1
        return self.seq

    def project(self, name: str) -> int:
        """Give the number of a project, which is made if it is new."""
        known = self._known.projects.get(name) or self._new.projects.get(name)
        if known is None:
            found = select(projects.c.project_id).where(projects.c.name == name)
            known = self.connection.execute(found).scalar_one_or_none()
            if known is None:
                made = (
                    insert(projects).values(name=name, pending=0).returning(projects.c.project_id)
                )
                known = int(self.connection.execute(made).scalar_one())
            self._new.projects[name] = known
        return known

    def context(self, project_id: int, ranking: Ranking) -> int:
        """Give the number of what a new ranking has in common with others, and count it there."""
        said = (ranking.model, ranking.version, ranking.environment, ranking.attributes)
        key = (project_id, *said)
        known = self._known.contexts.get(key) or self._new.contexts.get(key)
        if known is None:
            digest = blake2b(json.dumps(said).encode(), digest_size=16).digest()
            found = select(contexts.c.context_id).where(
                contexts.c.project_id == project_id, contexts.c.digest == digest
            )
            known = self.connection.execute(found).scalar_one_or_none()
            if known is None:
                row = {
                    "project_id": project_id,
                    "digest": digest,
                    "model": ranking.model,
                    "version": ranking.version,
                    "environment": ranking.environment,
                    "attributes": json.dumps(dict(ranking.attributes)),
                    "rankings": 0,
                }
                made = insert(contexts).values(row).returning(contexts.c.context_id)
                known = int(self.connection.execute(made).scalar_one())
            self._new.contexts[key] = known
        before = self.shown.get(known)
        at = ranking.time
        self.shown[known] = Shown(1, at, at) if before is None else before.add(at)
        return known

    def finish(self) -> Mark:
        """Write what was counted, and the numbers of the last event and of this transaction.

        A transaction that changes nothing has no number: there is nothing of it to lose.
        """
        driver = driver_of(self.connection)
        count_shown(self.connection, self.shown)
        for project_id, count in self.pending.items():
            if count:
                more = update(projects).where(projects.c.project_id == project_id)
                self.connection.execute(more.values(pending=projects.c.pending + count))
        for (project_id, reason), count in self.counts.items():
            row = (counters.c.project_id == project_id) & (counters.c.reason == reason)
            added = update(counters).where(row).values(count=counters.c.count + count)
            if self.connection.execute(added).rowcount == 0:
                self.connection.execute(
                    insert(counters), {"project_id": project_id, "reason": reason, "count": count}
                )
        if driver.total_changes == self._changes:
            return self._mark
        mark = replace(self._mark, seq=self.seq, commit=self._mark.commit + 1)
        moved = [(str(mark.commit), "last_commit")]
        if mark.seq != self._mark.seq:
            moved.append((str(mark.seq), "last_seq"))
        self.connection.exec_driver_sql(NUMBER, moved)
        self.secrets.finish(self.connection)
        return mark

    def keep(self) -> None:
        """Let the writer keep what was found, once it is committed."""
        if len(self._known.contexts) + len(self._new.contexts) > MOST_KEPT:
            self._known.contexts.clear()
        self._known.projects |= self._new.projects
        self._known.contexts |= self._new.contexts
        self.secrets.keep()


class _UsedSecrets:
    """The secrets of webhooks, of which those that no webhook uses are removed after the commit.

    A secret is added before the commit, so that no webhook is ever without its own.
    """

    def __init__(self, file: SecretFile) -> None:
        self._file = file
        self._used: list[str] | None = None
        self._is_changed = False

    def add(self, secret_id: str, secret: Secret) -> None:
        """Add a secret; see `SecretFile.add`."""
        self._is_changed = True
        self._file.add(secret_id, secret)

    def forget(self) -> None:
        """Remove the secret of a webhook that was removed, after the commit."""
        self._is_changed = True

    def finish(self, connection: Connection) -> None:
        """Find which secrets are used."""
        if self._is_changed:
            self._used = list(connection.execute(select(webhooks.c.secret_id)).scalars())

    def keep(self) -> None:
        """Remove the others."""
        if self._used is not None:
            # What is left here is removed when the store is opened next.
            with suppress(FileError):
                self._file.keep(self._used)
