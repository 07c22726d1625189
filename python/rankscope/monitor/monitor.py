"""The monitor of a project: one object for what people, pages and commands ask."""

from __future__ import annotations

import math
from functools import cached_property
from typing import cast

from rankscope.errors import UsageError
from rankscope.monitor.alerts import managing
from rankscope.monitor.alerts.advancing import advance_rules
from rankscope.monitor.configuration import Configuration
from rankscope.monitor.explaining import explain_logged
from rankscope.monitor.find_baseline import read_baseline
from rankscope.monitor.ingesting import Ingestion, StoreSink
from rankscope.monitor.limits import HOUR
from rankscope.monitor.quality import add_ages, look_at_data
from rankscope.monitor.refreshing import refresh
from rankscope.monitor.round import Round
from rankscope.monitor.series import make_series, read_length
from rankscope.monitor.slices import tabulate_slices
from rankscope.monitor.spans import suggest_spans
from rankscope.monitor.store import SQLITE, open_store
from rankscope.monitor.stored_windows import name_place, unpack_cell
from rankscope.monitor.times import read_clock
from rankscope.monitor.tracing import trace_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Literal, Self

    from rankscope.monitor.alerts.alert import Alert
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.alerts.rule_state import RuleState
    from rankscope.monitor.baseline import Baseline
    from rankscope.monitor.ingesting import Ingested
    from rankscope.monitor.logged_explanation import LoggedExplanation
    from rankscope.monitor.maturity import MaturityCurve
    from rankscope.monitor.quality import Quality
    from rankscope.monitor.series import Every, Series
    from rankscope.monitor.slicing import Slice
    from rankscope.monitor.spans import Span
    from rankscope.monitor.store.outbox_rows import Letter
    from rankscope.monitor.store.protocol import Deleted, Exported, Store, Version
    from rankscope.results import Table
    from rankscope.results.trace import Trace
    from rankscope.stats.trace import TraceChoices


class Monitor:
    """The monitor of a project.

    Args:
        store: Where its events are; whoever opened it closes it.
        project: The name of the project.
        now: Gives the time, in microseconds since 1970 in UTC.
        threads: How many threads may work; all cores if left out.
        writes: Whether the store can be written.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from rankscope.monitor.definition import define
        >>> from rankscope.monitor.events import Items, Label, Ranking
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
        self.store = store
        self.project = project
        self.now = now
        self._threads = threads
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
            threads: How many threads may work; all cores if left out.

        Raises:
            UsageError: It is no URL of a store.
            FileError: The store cannot be opened, another process writes to it, or it has lost what
                it acknowledged.
        """
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

    @property
    def is_configured(self) -> bool:
        """Whether it was said how the project is measured."""
        return self.store.configuration(self.project) is not None

    @cached_property
    def configuration(self) -> Configuration:
        """How the project is measured.

        Raises:
            UsageError: It was not said yet.
        """
        text = self.store.configuration(self.project)
        if text is None:
            raise UsageError(
                f"expected project {self.project!r} to be configured, found nothing about it",
                hint="say what labels are worth: rankscope monitor configure STORE --positive "
                "click=1 --window 24h",
                code="not_configured",
            )
        return Configuration.from_json(text)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in self.configuration.definition.measures)

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
        now, configuration = self.now(), self.configuration
        refreshed = refresh(self.store, self.project, configuration, now=now, threads=self._threads)
        advanced = advance_rules(
            self.store,
            self.project,
            configuration,
            refreshed.slicing,
            now=now,
            threads=self._threads,
        )
        return Round(
            as_of=now,
            seq=refreshed.seq,
            hours=refreshed.hours,
            rankings=refreshed.rankings,
            periods=advanced.periods,
            alerts=advanced.alerts,
        )

    def versions(self) -> tuple[Version, ...]:
        """List the versions in production, in the order in which they were first shown."""
        shown = [
            one for one in self.store.versions(self.project) if one.environment == "production"
        ]
        return tuple(sorted(shown, key=lambda one: (one.first, one.model, one.version)))

    def series(
        self,
        measure: str,
        *,
        every: Every = "hour",
        since: int | None = None,
        until: int | None = None,
        model: str | None = None,
        version: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> Series:
        """Give the values of a measure over time.

        Args:
            measure: One of the measures.
            every: How long windows are.
            since: The windows that begin from then on, in microseconds since 1970 in UTC.
            until: Up to before which time they begin.
            model: The model that ranked; all together if left out.
            version: Its version; likewise.
            slice: Names of attributes and values, as they are configured.

        Raises:
            UsageError: There is no such measure.
        """
        rows = self.store.cells(
            self.project,
            self.configuration.digest,
            since,
            until,
            length=read_length(every),
            slice=name_place(slice),
        )
        return make_series(
            map(unpack_cell, rows),
            self.configuration.definition,
            measure,
            every=every,
            model=model,
            version=version,
            slice=slice,
        )

    def slices(
        self,
        measure: str,
        *,
        every: Every = "day",
        since: int | None = None,
        until: int | None = None,
        model: str | None = None,
        version: str | None = None,
    ) -> Table:
        """Tabulate the slices of a span of time: values, and what the baseline has.

        Args:
            measure: One of the measures.
            every: How long the windows are that are added up.
            since: The windows that begin from then on, in microseconds since 1970 in UTC.
            until: Up to before which time they begin.
            model: The model that ranked; all together if left out.
            version: Its version; likewise.

        Returns:
            One row a slice of one or two attributes, with `slice`, `value`, `rankings`, `labelled`,
            `empty`, `baseline` and `difference`; the lowest differences first.

        Raises:
            UsageError: There is no such measure.
        """
        rows = self.store.cells(
            self.project, self.configuration.digest, since, until, length=read_length(every)
        )
        return tabulate_slices(
            map(unpack_cell, rows),
            self.configuration.definition,
            measure,
            self.baseline(),
            model=model,
            version=version,
        )

    def baseline(self) -> Baseline | None:
        """Give what values are held against, as it was when `evaluate` was last called."""
        progress = self.store.progress(self.project, self.configuration.digest)
        text = "" if progress is None else progress.baseline
        return read_baseline(text, self.configuration.definition)

    def maturity(self, since: int | None = None, until: int | None = None) -> MaturityCurve:
        """Tell how soon labels came.

        Args:
            since: From which hour on rankings count, in microseconds since 1970 in UTC.
            until: Up to before which time.
        """
        hours = self.store.hours(self.project, self.configuration.digest, since, until)
        return add_ages(hours)

    def quality(self, since: int | None = None, until: int | None = None) -> Quality:
        """Look at the data: what was discarded, what is late, what is open.

        Args:
            since: From which hour on windows count, in microseconds since 1970 in UTC.
            until: Up to before which time.
        """
        return look_at_data(self.store, self.project, self.configuration, since, until)

    def trace(
        self,
        before: Span,
        after: Span,
        measure: str | None = None,
        choices: TraceChoices | None = None,
        documents: Mapping[str, Sequence[object]] | None = None,
    ) -> Trace:
        """Find out why the mean of a measure changed between two spans.

        Args:
            before: The first span; a set that was logged, too, such as that of validation.
            after: The second span.
            measure: One of the measures that has losses, which is nDCG; that of the largest cutoff
                if left out.
            choices: How it is traced.
            documents: A table of documents, `{"doc_id": [...], "genre": [...]}`, by whose columns
                what they cost is told apart.

        Raises:
            UsageError: There is no such measure.
            EmptyError: A span has no mature rankings with a value.
            LimitError: A span has too many rankings.
        """
        return trace_spans(
            self.store,
            self.project,
            self.configuration.definition,
            before,
            after,
            now=self.now(),
            measure=measure,
            choices=choices,
            documents=documents,
            threads=self._threads,
        )

    def suggest_spans(self) -> tuple[Span, Span] | None:
        """Suggest what to compare: the newest version with the one before it, or the last weeks.

        Returns:
            The span before and the one after; `None` where there are no mature rankings of two
            hours.
        """
        versions = self.store.versions(self.project)
        return suggest_spans(versions, self.configuration.definition, self.now())

    def explain(self, ranking_id: str, measure: str | None = None) -> LoggedExplanation:
        """Explain the value of a ranking, rank by rank.

        Args:
            ranking_id: The ranking.
            measure: One of the measures; that which is traced if left out.

        Raises:
            UsageError: There is no such ranking, or no such measure.
        """
        return explain_logged(
            self.store,
            self.project,
            self.configuration.definition,
            ranking_id,
            now=self.now(),
            measure=measure,
        )

    def rules(self) -> tuple[Rule, ...]:
        """List the rules of the project, by name."""
        return managing.list_rules(self.store, self.project)

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
        managing.set_rule(
            self.store, self.project, self.configuration, rule, now=self.now(), actor=actor
        )

    def remove_rule(self, name: str, *, actor: str = "local") -> None:
        """Remove a rule; the alerts that there were stay.

        Raises:
            UsageError: There is none.
            FileError: That is not stored.
        """
        self._refuse_reading()
        managing.remove_rule(self.store, self.project, name, now=self.now(), actor=actor)

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
        managing.silence_rule(self.store, self.project, name, until, now=self.now(), actor=actor)

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
        managing.resolve_rule(self.store, self.project, name, now=self.now(), actor=actor)

    def check(self) -> tuple[RuleState, ...]:
        """Give the states of the rules, as they were when `evaluate` was last called."""
        return managing.list_states(self.store, self.project)

    def alerts(self, limit: int = 100) -> tuple[Alert, ...]:
        """List the changes of states, the newest first."""
        return managing.list_alerts(self.store, self.project, limit)

    def notifications(self, limit: int = 100) -> tuple[Letter, ...]:
        """List what was, or is to be, told of those changes, the newest first."""
        return managing.list_notifications(self.store, self.project, limit)

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        since: int | None = None,
        until: int | None = None,
    ) -> Exported:
        """Write rankings and labels as Parquet, to be read as events again.

        Args:
            folder: Where `rankings.parquet` and `labels.parquet` are to be; made if it is not
                there.
            since: From which time on, in microseconds since 1970 in UTC.
            until: Up to before which time.

        Raises:
            UsageError: The span is over before it begins.
            FileError: They cannot be written.
        """
        from rankscope.monitor.store.export import export_parquet  # noqa: PLC0415 - loads PyArrow

        return export_parquet(self.store, self.project, folder, since=since, until=until)

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Copy the store, with all of its projects, to a new file while it goes on.

        Returns:
            The number of the last event in the copy.

        Raises:
            FileError: There is a file already, or the copy cannot be written.
        """
        return self.store.backup(path)

    def verify(self) -> None:
        """Read all of the store.

        Raises:
            FileError: It is damaged.
        """
        self.store.verify()

    def delete_before(self, time: int) -> Deleted:
        """Delete the events of the hours before a time; their windows stay.

        Args:
            time: In microseconds since 1970 in UTC.

        Raises:
            FileError: It cannot be done, or not all of it.
        """
        self._refuse_reading()
        return self.store.delete_before(self.project, math.floor(time / HOUR) * HOUR)

    def _refuse_reading(self) -> None:
        if not self._writes:
            raise UsageError(
                "expected a monitor that writes, found one that only reads",
                hint="open it with writes=True, where no other process writes",
                code="read_only",
            )
