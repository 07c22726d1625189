"""The monitor of a project: one object for what people, pages and commands ask."""

from __future__ import annotations

from typing import cast

from rankscope.errors import UsageError
from rankscope.monitor.alerts import management
from rankscope.monitor.events.fields import read_name
from rankscope.monitor.events.limits import HOUR, SECOND, Limits
from rankscope.monitor.events.times import format_time, read_clock
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.reader import ProjectReader
from rankscope.monitor.round import evaluate_project
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.files import SQLITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Literal, Self

    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.intake.ingestion import Ingested
    from rankscope.monitor.round import Round
    from rankscope.monitor.store.records import Deleted
    from rankscope.monitor.store.store import Store


class Monitor(ProjectReader):
    """The monitor of a project.

    Args:
        store: Where its events are; whoever opened it closes it.
        project: The name of the project.
        now: Gives the time, in microseconds since 1970 in UTC.
        threads: How many threads may work, or processes where there is much to evaluate; all cores
            if left out.
        writes: Whether the store can be written.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from rankscope.monitor.definition.configuration import Configuration
        >>> from rankscope.monitor.definition.definition import define
        >>> from rankscope.monitor.events.event import Items, Label, Ranking
        >>> music = Configuration(definition=define(positive="click", window=3600), baseline=None)
        >>> shown = Ranking("e1", "r1", 0, Items(("a", "b"), (1, 2)))
        >>> with (
        ...     TemporaryDirectory() as folder,
        ...     Monitor.open(f"{folder}/events.db", now=lambda: 3 * HOUR) as monitor,
        ... ):
        ...     monitor.configure(music)
        ...     _ = monitor.store.append("default", [shown, Label("e2", "r1", "b", 5, ("click",))])
        ...     monitor.evaluate().rankings
        ...     series = monitor.series("nDCG@5")
        ...     series.values, series.is_final
        1
        ((0.6309297535714575,), (True,))
    """

    def __init__(
        self,
        store: Store,
        project: str = "default",
        *,
        now: Callable[[], int] = read_clock,
        threads: int | None = None,
        writes: bool = True,
    ) -> None:
        super().__init__(store, project, now=now, threads=threads)
        self._writes = writes

    @classmethod
    def open(
        cls,
        url: str,
        project: str = "default",
        *,
        writes: bool = True,
        now: Callable[[], int] = read_clock,
        threads: int | None = None,
    ) -> Self:
        """Open a store and a project in it.

        Args:
            url: `sqlite:///events.db`, or the path of the file.
            project: The name of the project.
            writes: Whether to write to it, which one process at a time can; reading is free.
            now: Gives the time, in microseconds since 1970 in UTC.
            threads: How many threads may work, or processes where there is much to evaluate; all
                cores if left out.

        Raises:
            UsageError: It is no URL of a store.
            FormatError: The project is no line of text.
            FileError: The store cannot be opened, another process writes to it, or it has lost what
                it acknowledged.
        """
        project = read_name(project, "project", Limits().name_bytes)
        if "://" not in url:
            url = SQLITE + url
        if writes:
            store = open_store(url)
        else:
            from rankscope.monitor.store import open_reader  # noqa: PLC0415 - loads SQLAlchemy

            store = cast("Store", open_reader(url))
        return cls(store, project, now=now, threads=threads, writes=writes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def configure(self, configuration: Configuration, *, actor: str = "local") -> None:
        """Say how the project is measured from now on.

        Values of another definition are not shown beside the new ones: the windows are made again
        from the events when `evaluate` is called next.

        Args:
            configuration: How it is measured.
            actor: Who says so, for the audit.

        Raises:
            FileError: It is not stored.
        """
        self._refuse_reading()
        self.store.configure(self.project, configuration.to_json(), self.now(), actor)
        self.__dict__.pop("configuration", None)

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
            names: What fields or columns are called that have none of the usual names.
            attributes: The columns or fields of what belongs to a ranking, such as its country;
                those of the configuration that there are, if left out.

        Returns:
            What became of them; those that cannot be stored hold up none of the others.

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
            names: What fields or columns are called that have none of the usual names.

        Returns:
            What became of them; those that cannot be stored hold up none of the others.

        Raises:
            InputError: A file or a frame cannot be read.
            FileError: A file cannot be read, or the store cannot be written.
        """
        return self._log("labels", labels, names, ())

    def _log(
        self,
        kind: Literal["rankings", "labels"],
        given: object,
        names: Mapping[str, str] | None,
        attributes: Sequence[str] | None,
    ) -> Ingested:
        self._refuse_reading()
        configured = self.configuration.attributes if self.is_configured else ()
        ingestion = Ingestion(
            StoreSink(self.store, self.project),
            kind,
            now=self.now,
            names=names,
            attributes=configured if attributes is None else attributes,
            is_strict=attributes is not None,
        )
        ingestion.take(given)
        return ingestion.ingested

    def evaluate(self) -> Round:
        """Bring windows, baseline and alerts up to date.

        Raises:
            UsageError: The project is not configured.
            FileError: The store cannot be written.
        """
        self._refuse_reading()
        return evaluate_project(self.store, self.project, now=self.now(), threads=self._threads)

    def set_rule(self, rule: Rule, *, actor: str = "local") -> None:
        """Make a rule, or change the one of its name.

        A change of what is measured voids the evidence that was collected.

        Args:
            rule: The rule.
            actor: Who does it, for the audit.

        Raises:
            UsageError: The project does not measure what it asks for.
            FileError: It is not stored.
        """
        self._refuse_reading()
        management.set_rule(
            self.store, self.project, self.configuration, rule, now=self.now(), actor=actor
        )

    def remove_rule(self, name: str, *, actor: str = "local") -> None:
        """Remove a rule; the alerts that there were stay.

        Raises:
            UsageError: There is none.
            FileError: That is not stored.
        """
        self._refuse_reading()
        management.remove_rule(self.store, self.project, name, now=self.now(), actor=actor)

    def silence(self, name: str, until: int | None, *, actor: str = "local") -> None:
        """Tell nobody of a rule until a time; its state and its alerts go on.

        Args:
            name: The rule.
            until: Until when, in microseconds since 1970 in UTC; `None` to tell again.
            actor: Who does it, for the audit.

        Raises:
            UsageError: There is no such rule.
            FileError: That is not stored.
        """
        self._refuse_reading()
        management.silence_rule(self.store, self.project, name, until, now=self.now(), actor=actor)

    def resolve(self, name: str, *, actor: str = "local") -> None:
        """Say that what a rule has found is dealt with: its evidence is forgotten.

        Args:
            name: The rule.
            actor: Who does it, for the audit.

        Raises:
            UsageError: There is no such rule.
            FileError: That is not stored.
        """
        self._refuse_reading()
        management.resolve_rule(self.store, self.project, name, now=self.now(), actor=actor)

    def delete_before(self, time: int) -> Deleted:
        """Delete the events of the hours before a time; their windows stay.

        Args:
            time: In microseconds since 1970 in UTC.

        Raises:
            UsageError: Attribution windows of such events are open, or windows are not up to date.
            FileError: It cannot be done, or not all of it.
        """
        self._refuse_reading()
        until = time - time % HOUR
        if self.is_configured:
            configuration = self.configuration
            progress = self.store.progress(self.project, configuration.digest)
            known = 0 if progress is None else progress.as_of
            if until + configuration.definition.window * SECOND > min(known, self.now()):
                raise UsageError(
                    f"expected a time whose values were final when they were evaluated last, found "
                    f"{format_time(time)}",
                    hint="evaluate first, or keep events longer: their values would stay as they "
                    "are now",
                    code="open_windows",
                )
        return self.store.delete_before(self.project, until)

    def _refuse_reading(self) -> None:
        if not self._writes:
            raise UsageError(
                "expected a monitor that writes, found one that only reads",
                hint="open it with writes=True, where no other process writes",
                code="read_only",
            )
