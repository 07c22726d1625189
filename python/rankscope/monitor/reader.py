"""The questions a project answers: values, causes, rules and data quality."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rankscope._show.table import Table
from rankscope.monitor.ask.compared_rankings import MOST_RANKINGS
from rankscope.monitor.ask.comparison import VersionComparison, compare_served
from rankscope.monitor.ask.explanation import explain_logged
from rankscope.monitor.ask.logged_explanation import LoggedExplanation
from rankscope.monitor.ask.quality import Quality, add_ages, find_mismatches, inspect_data
from rankscope.monitor.ask.series import (
    Every,
    Series,
    make_all_series,
    make_series,
    read_length,
    tabulate_slices,
)
from rankscope.monitor.ask.trace import Span, suggest_spans, trace_spans
from rankscope.monitor.ask.versions import ModelVersion, describe_version, list_versions
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.early_reader import EarlyReader
from rankscope.monitor.evaluate.baseline import Baseline, read_baseline
from rankscope.monitor.evaluate.stored_windows import (
    MaturityCurve,
    StoredCell,
    name_place,
    unpack_cells,
    unpack_folded,
)
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.mismatch import Mismatch
from rankscope.monitor.events.times import Time, read_span
from rankscope.monitor.incidents import management, response
from rankscope.monitor.incidents.facts import find_facts_of_trace
from rankscope.monitor.incidents.incident import Change, Incident
from rankscope.monitor.incidents.management import Notification
from rankscope.monitor.incidents.response import Chosen
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.state import RuleState
from rankscope.monitor.store.records import Exported
from rankscope.monitor.why.compute import TraceChoices
from rankscope.monitor.why.result import Trace


class ProjectReader(EarlyReader):
    """Answers questions about a project from what is stored when they are asked."""

    def versions(self) -> tuple[ModelVersion, ...]:
        """List the versions in production in the order in which they were first shown.

        Of more than 100 versions, those with the most rankings are listed. The others of a model
        are one entry named `<other>`, whose `folded` is the number of versions it stands for.
        """
        return tuple(map(describe_version, list_versions(self.store, self.project)))

    def series(
        self,
        measure: str,
        *,
        every: Every = "hour",
        since: Time | None = None,
        until: Time | None = None,
        model: str | None = None,
        version: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> Series:
        """Return the values of a measure over time.

        Args:
            measure: One of the measures.
            every: The length of the windows: `hour` or `day`.
            since: The start of the first window (default: the oldest that is stored). A `datetime`
                with a time zone, or ISO text.
            until: The time before which windows start.
            model: The model that ranked (default: all together).
            version: Its version (default: all together).
            slice: Pairs of an attribute and its value; the attributes are those configured.

        Raises:
            UsageError: There is no such measure, or a time has no time zone.
        """
        return make_series(
            self._read_cells(every, since, until, slice),
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
        since: Time | None = None,
        until: Time | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> list[dict[str, Series]]:
        """Return the values of all measures over time for several versions, in one read.

        Args:
            parts: Pairs of a model and a version; `None` stands for all together.
            every: As in `series`, like the next three.
            since: The start of the first window.
            until: The time before which windows start.
            slice: Pairs of an attribute and its value.

        Returns:
            For each pair, the series by measure.
        """
        cells = self._read_cells(every, since, until, slice)
        definition = self.configuration.definition
        return make_all_series(cells, definition, parts, every=every, slice=slice)

    def slices(
        self,
        measure: str,
        *,
        every: Every = "day",
        since: Time | None = None,
        until: Time | None = None,
        model: str | None = None,
        version: str | None = None,
    ) -> Table:
        """Tabulate the slices over a span of time, next to their baseline.

        Args:
            measure: One of the measures.
            every: The length of the windows that are added up.
            since: As in `series`, like the next three.
            until: The time before which windows start.
            model: The model that ranked.
            version: Its version.

        Returns:
            One row for each slice of one or two attributes, with `slice`, `value`, `rankings`,
            `labelled`, `empty`, `baseline` and `difference`; the lowest difference first.

        Raises:
            UsageError: There is no such measure, or a time has no time zone.
        """
        return tabulate_slices(
            self._read_cells(every, since, until, None),
            self.configuration.definition,
            measure,
            self.baseline(),
            model=model,
            version=version,
        )

    def _read_cells(
        self, every: str, since: Time | None, until: Time | None, slice_: Slice | None
    ) -> Iterator[StoredCell]:
        """Read the windows of a span of time, of one slice or of all."""
        rows = self.store.cells(
            self.project,
            self.configuration.digest,
            *read_span(since, until),
            length=read_length(every),
            slice=None if slice_ is None else name_place(slice_),
        )
        return unpack_cells(rows)

    def baseline(self) -> Baseline | None:
        """Return the baseline as of the last call of `evaluate`, or `None` if there is none."""
        progress = self.store.progress(self.project, self.configuration.digest)
        text = "" if progress is None else progress.baseline
        return read_baseline(text, self.configuration.definition)

    def maturity(self, since: Time | None = None, until: Time | None = None) -> MaturityCurve:
        """Return how long after their rankings labels happen.

        Args:
            since: The first hour whose rankings count (default: the oldest that is stored).
            until: The time before which hours start.
        """
        digest = self.configuration.digest
        return add_ages(self.store.hours(self.project, digest, *read_span(since, until)))

    def quality(self, since: Time | None = None, until: Time | None = None) -> Quality:
        """Report on the data: which events were discarded, and what is late or pending.

        Args:
            since: The first hour that counts (default: the oldest that is stored).
            until: The time before which hours start.
        """
        span = read_span(since, until)
        return inspect_data(self.store, self.project, self.configuration, *span)

    def mismatches(self) -> tuple[Mismatch, ...]:
        """List names of labels and attributes that don't match the configuration.

        Returns:
            What doesn't match in the rankings of the last day and their labels, near misses first.
        """
        since, until = self.clock() - DAY, self.clock() + 1
        hours = self.store.hours(self.project, self.configuration.digest, since, until)
        return find_mismatches(
            self.store, self.project, self.configuration, since, until, hours=hours
        )

    def folded_versions(self, since: Time | None = None) -> int:
        """Return how many versions are summed as `<other>` in the hour that has the most of them.

        Args:
            since: The first hour that counts (default: the oldest that is stored).
        """
        begin, _ = read_span(since, None)
        hours = self.store.hours(self.project, self.configuration.digest, begin)
        return max((unpack_folded(hour).versions for hour in hours), default=0)

    def trace(
        self,
        before: Span,
        after: Span,
        measure: str | None = None,
        choices: TraceChoices | None = None,
        documents: Mapping[str, Sequence[object]] | None = None,
        *,
        sample: int | None = None,
    ) -> Trace:
        """Find out why the mean of a measure changed between two spans.

        Args:
            before: The first span; it can be an uploaded set, such as the validation set.
            after: The second span.
            measure: One of the nDCG measures (default: the one with the largest cutoff).
            choices: The settings of the search.
            documents: A table of documents, such as `{"doc_id": [...], "genre": [...]}`, by whose
                columns losses are broken down.
            sample: How many rankings of a span to trace at most (default: all). Of a span with
                more, those of a random sample of users are traced, and the result says how far
                that may be off.

        Raises:
            UsageError: There is no such measure.
            EmptyError: A span has no ranking with a final value.
        """
        store, project, configuration = self.store, self.project, self.configuration
        now = self.clock()
        found = trace_spans(
            store,
            project,
            configuration.definition,
            before,
            after,
            now=now,
            measure=measure,
            choices=choices,
            documents=documents,
            sample=sample,
            threads=self._threads,
        )
        facts = find_facts_of_trace(store, project, configuration, found, (before, after), now=now)
        return replace(found, facts=facts)

    def compare(
        self,
        measure: str | None = None,
        *,
        model: str | None = None,
        old: str | None = None,
        new: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
        since: Time | None = None,
        until: Time | None = None,
        most_rankings: int = MOST_RANKINGS,
    ) -> VersionComparison:
        """Compare two versions of a model over the time in which both serve.

        The difference of each day is from all rankings until then. With a probability of 0.95, the
        intervals of all days contain the true difference, however often you look.

        Args:
            measure: One of the measures (default: the last one).
            model: The model (default: the one with the newest version that serves beside another).
            old: The older version (default: the newest before the new one).
            new: The newer version (default: the newest that serves beside another).
            slice: Pairs of an attribute and its value; the attributes are those configured.
            since: The first time that is compared (default: when both serve). A `datetime` with a
                time zone, or ISO text.
            until: The time before which rankings are compared (default: when one stops).
            most_rankings: How many rankings are compared at most (default: 10 million). They are
                held in memory, about 200 bytes each.

        Raises:
            UsageError: There is no such measure, version or attribute.
            EmptyError: No two versions served at the same time, or there are no values to compare.
            LimitError: There are too many rankings.
        """
        begin, end = read_span(since, until)
        return compare_served(
            self.store,
            self.project,
            self.configuration,
            now=self.clock(),
            measure=measure,
            model=model,
            old=old,
            new=new,
            place=slice,
            since=begin,
            until=end,
            most=most_rankings,
            threads=self._threads,
        )

    def suggest_spans(self) -> tuple[Span, Span] | None:
        """Suggest two spans to compare: the newest version and the one before it, or two weeks.

        Returns:
            The span before and the span after; `None` where fewer than two hours of production have
            final values.
        """
        versions = self.store.versions(self.project)
        return suggest_spans(versions, self.configuration.definition, self.clock())

    def explain(self, ranking_id: str, measure: str | None = None) -> LoggedExplanation:
        """Explain the value of one ranking, rank by rank.

        Args:
            ranking_id: The ranking.
            measure: One of the measures (default: the one that `trace` takes).

        Raises:
            UsageError: There is no such ranking, or no such measure.
        """
        return explain_logged(
            self.store,
            self.project,
            self.configuration.definition,
            ranking_id,
            now=self.clock(),
            measure=measure,
        )

    def rules(self) -> tuple[Rule, ...]:
        """List the rules of the project by name."""
        return management.list_rules(self.store, self.project)

    def check(self) -> tuple[RuleState, ...]:
        """Return the states of the rules as of the last call of `evaluate`."""
        return management.list_states(self.store, self.project)

    def incidents(
        self, state: Chosen = "open", *, rule: str | None = None, limit: int | None = None
    ) -> tuple[Incident, ...]:
        """List incidents as of the last call of `evaluate`, those that were opened last first.

        Args:
            state: `open` for all that last, whether they are acknowledged, snoozed or neither;
                `acknowledged`, `snoozed`, `recovered`, `superseded` or `resolved` for those in that
                state; or `all`.
            rule: The rule that found them (default: all).
            limit: How many are listed at most (default: all).

        Raises:
            UsageError: There is no such state.
        """
        return response.list_incidents(self.store, self.project, state, rule=rule, limit=limit)

    def incident(self, incident_id: str) -> tuple[Incident, tuple[Change, ...]]:
        """Return an incident, and what happened to it, the oldest change first.

        Args:
            incident_id: The ID of the incident.

        Raises:
            UsageError: There is no such incident.
        """
        return response.find_incident(self.store, self.project, incident_id)

    def notifications(self, limit: int = 100) -> tuple[Notification, ...]:
        """List the notifications of incidents and whether they were delivered, newest first."""
        return management.list_notifications(self.store, self.project, limit)

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Exported:
        """Write rankings and labels as Parquet files that can be logged again.

        Args:
            folder: The folder for `rankings.parquet` and `labels.parquet`; it is created if needed.
            since: The time of the first event (default: the oldest that is stored).
            until: The time before which events happened.

        Raises:
            UsageError: The span ends before it begins.
            FileError: The files cannot be written.
        """
        from rankscope.monitor.store.export import export_parquet

        begin, end = read_span(since, until)
        return export_parquet(self.store, self.project, folder, since=begin, until=end)

    def verify(self) -> None:
        """Read the whole store to check that it is intact.

        Raises:
            FileError: The store is damaged.
        """
        self.store.verify()
