"""What is asked of a project, and changes nothing."""

from __future__ import annotations

from functools import cached_property

from rankscope.monitor.alerts import management
from rankscope.monitor.ask.explanation import explain_logged
from rankscope.monitor.ask.quality import add_ages, look_at_data
from rankscope.monitor.ask.series import make_all_series, make_series, read_length, tabulate_slices
from rankscope.monitor.ask.trace import suggest_spans, trace_spans
from rankscope.monitor.definition.configuration import Configuration, find_configuration
from rankscope.monitor.evaluate.stored_baseline import read_baseline
from rankscope.monitor.evaluate.stored_windows import name_place, unpack_cells, unpack_folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.alerts.notify.alert import Alert
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.ask.logged_explanation import LoggedExplanation
    from rankscope.monitor.ask.quality import Quality
    from rankscope.monitor.ask.series import Every, Series
    from rankscope.monitor.ask.trace import Span
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.baseline import Baseline
    from rankscope.monitor.evaluate.stored_windows import MaturityCurve
    from rankscope.monitor.store.records import CellRow, Exported, OutboxRow, Version
    from rankscope.monitor.store.store import Store
    from rankscope.results import Table
    from rankscope.results.trace import Trace
    from rankscope.stats.trace import TraceChoices


class ProjectReader:
    """Answers what is asked of a project; every answer is of what is stored then.

    Args:
        store: Where its events are.
        project: The name of the project.
        now: Gives the time, in microseconds since 1970 in UTC.
        threads: How many threads may work; all cores if left out.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        *,
        now: Callable[[], int],
        threads: int | None,
    ) -> None:
        self.store = store
        self.project = project
        self.now = now
        self._threads = threads

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
        return find_configuration(self.store, self.project)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in self.configuration.definition.measures)

    def versions(self) -> tuple[Version, ...]:
        """List the versions in production, in the order in which they were first shown.

        Of more than 100, those with the most rankings are listed, and the rest of a model is one,
        named `<other>`, whose `folded` says how many versions it stands for.
        """
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
            unpack_cells(rows),
            self.configuration.definition,
            measure,
            every=every,
            model=model,
            version=version,
            slice=slice,
        )

    def all_series(
        self,
        parts: Sequence[tuple[str | None, str | None]] = ((None, None),),
        *,
        every: Every = "hour",
        since: int | None = None,
        until: int | None = None,
    ) -> list[dict[str, Series]]:
        """Return the values of all measures over time, for several versions, read once.

        Args:
            parts: Models and versions; `None` is all together.
            every: How long windows are.
            since: The windows that begin from then on, in microseconds since 1970 in UTC.
            until: Up to before which time they begin.

        Returns:
            For each part, the series by measure.
        """
        configuration = self.configuration
        length = read_length(every)
        rows = self.store.cells(
            self.project, configuration.digest, since, until, length=length, slice=name_place(())
        )
        return make_all_series(unpack_cells(rows), configuration.definition, parts, every=every)

    def newest_cells(self, *, every: Every = "hour", since: int) -> list[CellRow]:
        """Return the newest final window of each version in production, without slices.

        There may be many, and few that are needed: they are as they are stored.

        Args:
            every: How long windows are.
            since: The windows that begin from then on, in microseconds since 1970 in UTC.
        """
        return self.store.newest_cells(
            self.project,
            self.configuration.digest,
            since,
            length=read_length(every),
            slice=name_place(()),
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
            unpack_cells(rows),
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

    def folded_versions(self, since: int | None = None) -> int:
        """Return how many versions are summed as `<other>`, in the hour with the most of them.

        Args:
            since: From which hour on, in microseconds since 1970 in UTC.
        """
        hours = self.store.hours(self.project, self.configuration.digest, since)
        return max((unpack_folded(hour).versions for hour in hours), default=0)

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
        return management.list_rules(self.store, self.project)

    def check(self) -> tuple[RuleState, ...]:
        """Give the states of the rules, as they were when `evaluate` was last called."""
        return management.list_states(self.store, self.project)

    def alerts(self, limit: int = 100) -> tuple[Alert, ...]:
        """List the changes of states, the newest first."""
        return management.list_alerts(self.store, self.project, limit)

    def notifications(self, limit: int = 100) -> tuple[OutboxRow, ...]:
        """List what was, or is to be, told of those changes, the newest first."""
        return management.list_notifications(self.store, self.project, limit)

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
