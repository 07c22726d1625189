"""The monitor of a project, as Python programs use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Self

from rankscope.errors import FileError, UsageError
from rankscope.monitor.backups import make_backup
from rankscope.monitor.definition.configuration import find_expected
from rankscope.monitor.deletion import choose_rankings, delete_before, describe_chosen
from rankscope.monitor.events.fields import read_name
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.times import (
    Time,
    format_time,
    read_clock,
    read_moment,
    to_micros,
)
from rankscope.monitor.intake.ingestion import Ingested, Ingestion, Sink, StoreSink
from rankscope.monitor.intake.sets import SETS, SetName, SetSink
from rankscope.monitor.manager import ProjectManager
from rankscope.monitor.round import Replay, Round, evaluate_project, replay_project
from rankscope.monitor.store import open_store
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.sqlite.files import SQLITE
from rankscope.monitor.store.store import StoreReader


class Monitor(ProjectManager):
    """The monitor of a project; `Monitor.open` opens one.

    Times are `datetime` objects with a time zone, or ISO text such as `2026-11-21T18:00:00Z`; times
    that are returned are in UTC.

    Args:
        store: An open store, which its opener closes.
        project: The name of the project.
        clock: Returns the current time as the store counts it (default: the clock of the system).
        threads: The number of threads, or of processes where there is much to evaluate (default:
            all cores).
        writes: Whether the store can be written.

    Examples:
        >>> from datetime import datetime, timezone
        >>> from tempfile import TemporaryDirectory
        >>> from rankscope.monitor import Configuration, define
        >>> clicks = Configuration(definition=define(positive="click", window="1h"), baseline=None)
        >>> shown = {"ranking_id": "r1", "time": "2026-11-21T18:00:00Z", "doc_ids": ["a", "b"]}
        >>> click = {"ranking_id": "r1", "doc_id": "b", "label": "click"}
        >>> now = datetime(2026, 11, 21, 21, tzinfo=timezone.utc)
        >>> with (
        ...     TemporaryDirectory() as folder,
        ...     Monitor.open(f"{folder}/events.db", now=lambda: now) as monitor,
        ... ):
        ...     monitor.configure(clicks)
        ...     _ = monitor.log_rankings([shown])
        ...     _ = monitor.log_labels([click | {"time": "2026-11-21T18:05:00Z"}])
        ...     _ = monitor.evaluate()
        ...     series = monitor.series("nDCG@5")
        >>> series.times[0].isoformat(), series.values, series.is_final
        ('2026-11-21T18:00:00+00:00', (0.6309297535714575,), (True,))
    """

    @classmethod
    def open(
        cls,
        url: str,
        project: str = "default",
        *,
        writes: bool = True,
        now: Callable[[], datetime] | None = None,
        threads: int | None = None,
    ) -> Self:
        """Open a store and a project in it.

        Args:
            url: `sqlite:///events.db`, the path of the file, or `postgresql://user@host/database`.
            project: The name of the project.
            writes: Whether to open it for writing. One process at a time writes to a file; beside a
                service, send events to its URL with `Client`. Any number write to a database of
                PostgreSQL, and any number read.
            now: Returns the current time as a `datetime` with a time zone (default: the clock of
                the system).
            threads: The number of threads, or of processes where there is much to evaluate
                (default: all cores).

        Raises:
            UsageError: The URL is not that of a store.
            FormatError: The name of the project is not a line of text.
            FileError: The store cannot be opened, another process writes to it, or it has lost what
                it acknowledged.
        """
        project = read_name(project, "project", Limits().name_bytes)
        if "://" not in url:
            url = SQLITE + url
        if writes:
            store: StoreReader = open_store(url)
        else:
            from rankscope.monitor.store import open_reader

            store = open_reader(url)
        clock = read_clock if now is None else lambda: to_micros(read_moment(now(), "now"))
        return cls(store, project, clock=clock, threads=threads, writes=writes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def log_rankings(
        self,
        rankings: object,
        *,
        names: Mapping[str, str] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Ingested:
        """Store rankings.

        Args:
            rankings: Objects as `POST /v1/rankings` takes them, a data frame of pandas, Polars or
                Arrow, or the path of a file of either.
            names: The names of fields or columns that have none of the usual names.
            attributes: The columns or fields that describe a ranking, such as its country (default:
                those of the configuration that the data has).

        Returns:
            What became of them. A ranking that cannot be stored does not hold up the others.

        Raises:
            InputError: A file or a frame cannot be read.
            FileError: A file cannot be read, or the store cannot be written.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> shown = {"ranking_id": "r1", "time": "2026-11-21T18:00:00Z", "doc_ids": ["a", "b"]}
            >>> with TemporaryDirectory() as folder, Monitor.open(f"{folder}/x.db") as monitor:
            ...     print(monitor.log_rankings([shown, shown, {"ranking_id": "r2"}]).refused[0])
            3: time: expected a time, found none [missing_field]
        """
        return self._log("rankings", rankings, names, attributes)

    def log_labels(self, labels: object, *, names: Mapping[str, str] | None = None) -> Ingested:
        """Store labels.

        Args:
            labels: Objects as `POST /v1/labels` takes them, a data frame of pandas, Polars or
                Arrow, or the path of a file of either.
            names: The names of fields or columns that have none of the usual names.

        Returns:
            What became of them. A label that cannot be stored does not hold up the others.

        Raises:
            InputError: A file or a frame cannot be read.
            FileError: A file cannot be read, or the store cannot be written.
        """
        return self._log("labels", labels, names, ())

    def replace_set(
        self,
        environment: SetName,
        rankings: object,
        *,
        names: Mapping[str, str] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Ingested:
        """Replace the validation or training set, all at once, with the labels of the old one.

        Args:
            environment: `validation` or `training`; each ranking has to be of it.
            rankings: The new set, as `log_rankings` takes it; at most 100,000 rankings.
            names: The names of fields or columns that have none of the usual names.
            attributes: The columns or fields that describe a ranking, such as its country (default:
                those of the configuration that the data has).

        Returns:
            What became of the rankings.

        Raises:
            UsageError: There is no such set, or an ID is that of a ranking outside the set.
            InputError: A file or a frame cannot be read, it has no rankings, or one of them was
                rejected; the set stays as it was.
            FileError: A file cannot be read, or the store cannot be written.

        Examples:
            >>> from tempfile import TemporaryDirectory
            >>> judged = {"ranking_id": "v1", "time": "2026-11-21T18:00:00Z", "doc_ids": ["a", "b"]}
            >>> judged |= {"environment": "validation", "relevance": [1, 0]}
            >>> with TemporaryDirectory() as folder, Monitor.open(f"{folder}/x.db") as monitor:
            ...     print(monitor.replace_set("validation", [judged]).accepted)
            1
        """
        if environment not in SETS:
            raise UsageError(
                f"expected {' or '.join(SETS)}, found {environment!r}",
                hint="rankings of production can't be replaced",
                code="usage",
            )
        collected = SetSink(environment, StoreSink(self.writer, self.project))
        ingested = self._log("rankings", rankings, names, attributes, collected)
        collected.replace(ingested)
        return ingested

    def _log(
        self,
        kind: Literal["rankings", "labels"],
        given: object,
        names: Mapping[str, str] | None,
        attributes: Sequence[str] | None,
        sink: Sink | None = None,
    ) -> Ingested:
        store = self.writer
        expected = find_expected(store, self.project)
        configured = () if expected is None else expected.attributes
        ingestion = Ingestion(
            sink or StoreSink(store, self.project),
            kind,
            now=self.clock,
            names=names,
            attributes=configured if attributes is None else attributes,
            is_strict=attributes is not None,
            expected=expected,
        )
        ingestion.take(given)
        return ingestion.ingested

    def evaluate(self, *, is_replay: bool = False) -> Round:
        """Compute windows and the baseline from new events, and check the rules.

        Every moment since the last evaluation at which something is due is passed in order, so that
        incidents are the same however often this is called.

        Args:
            is_replay: Whether the clock says a time in the past of the log: a rule that has looked
                at no period yet then begins with the first ranking.

        Raises:
            UsageError: The project is not configured.
            FileError: The store cannot be written, or another process evaluates it.
        """
        store = self.writer
        if not store.take_evaluation():
            raise FileError(
                "another process evaluates the store",
                hint="if it is rankscope serve, its values are up to date after its next round",
                code="store_evaluated",
            )
        now, threads = self.clock(), self._threads
        return evaluate_project(store, self.project, now=now, threads=threads, is_replay=is_replay)

    def replay(self, until: Time | None = None) -> Replay:
        """Return which incidents `evaluate` would open and close up to a time; writes nothing.

        Args:
            until: A `datetime` with a time zone, or ISO text (default: now).

        Raises:
            UsageError: The project is not configured, or the time has no time zone.
        """
        now = self.clock() if until is None else to_micros(read_moment(until, "until"))
        return replay_project(self.store, self.project, now=now, threads=self._threads)

    def delete(
        self,
        *,
        user: str | None = None,
        rankings: str | Sequence[str] | None = None,
        since: Time | None = None,
        until: Time | None = None,
        actor: str = "local",
    ) -> Deleted:
        """Delete the rankings that have everything that is given, with all their labels.

        The next evaluation computes the windows of their hours without them. Use this to delete
        what belongs to a user, or what was logged by mistake; `delete_before` deletes what is old
        and keeps the values.

        Args:
            user: The `user_id` of the rankings.
            rankings: A `ranking_id`, or several.
            since: The earliest time of a ranking: a `datetime` with a time zone, or ISO text.
            until: The first time that is not deleted.
            actor: The name for the audit log, which doesn't keep the user's ID.

        Returns:
            The number of rankings and labels that were deleted.

        Raises:
            UsageError: Nothing is given, the user is empty, or the time range ends before it
                begins.
            FileError: Not all of them could be deleted.
        """
        chosen = choose_rankings(user=user, rankings=rankings, since=since, until=until)
        store, now = self.writer, self.clock()
        entry = AuditEntry(now, actor, "events.delete", describe_chosen(chosen))
        store.record_audit(self.project, entry)
        return store.erase(self.project, chosen)

    def delete_before(self, time: Time, *, actor: str = "local") -> Deleted:
        """Delete the events of the hours before a time; their windows stay.

        Args:
            time: A `datetime` with a time zone, or ISO text.
            actor: The name for the audit log.

        Raises:
            UsageError: Attribution windows of such events are open, or windows are not up to date.
            FileError: Not all events could be deleted.
        """
        moment = to_micros(read_moment(time, "time"))
        store, now = self.writer, self.clock()
        done = delete_before(store, self.project, moment, now=now)
        entry = AuditEntry(now, actor, "events.retain", f"before {format_time(moment)}")
        store.record_audit(self.project, entry)
        return done

    def backup(self, place: str) -> str:
        """Back up the store while it is in use, and return the folder or the URL of the backup.

        Args:
            place: A folder or URL that is empty, or has backups of this store.

        Raises:
            UsageError: It is no such place, or the store is in PostgreSQL.
            FileError: Something cannot be read or written.
        """
        return make_backup(self.store, place, now=self.clock()).location
