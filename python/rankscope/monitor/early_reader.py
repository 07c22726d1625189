"""What a project answers before labels arrive: signals, forecasts and early warnings."""

from __future__ import annotations

from rankscope.monitor.ask.expected import make_expected, tabulate_forecasts
from rankscope.monitor.ask.series import read_length
from rankscope.monitor.ask.signals import make_signal_series
from rankscope.monitor.evaluate.stored_windows import name_place
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import read_span
from rankscope.monitor.expect.lists import list_measures
from rankscope.monitor.incidents.warnings import rate_warnings
from rankscope.monitor.opened import OpenedProject
from rankscope.monitor.signals.kinds import REFERENCE_DAYS
from rankscope.monitor.signals.refresh import read_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.monitor.ask.expected import Expected
    from rankscope.monitor.ask.series import Every
    from rankscope.monitor.ask.signals import SignalSeries
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.stored_windows import StoredCell
    from rankscope.monitor.events.times import Time
    from rankscope.monitor.incidents.warnings import WarningRecord
    from rankscope.output.table import Table


class EarlyReader(OpenedProject):
    """Answers questions about rankings whose labels haven't arrived."""

    @property
    def forecast_measures(self) -> tuple[str, ...]:
        """The names of the measures whose values are forecast before labels arrive."""
        return tuple(one.name for one in list_measures(self.configuration.definition))

    def expected(
        self,
        measure: str | None = None,
        *,
        every: Every = "day",
        since: Time | None = None,
        until: Time | None = None,
        model: str | None = None,
        version: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> Expected:
        """Return the values that rankings were expected to have before their labels arrived.

        Args:
            measure: One of the nDCG measures (default: the first).
            every: The length of the windows: `hour` or `day`.
            since: As in `series`, like the next three.
            until: The time before which windows start.
            model: The model that ranked.
            version: Its version.
            slice: An attribute and its value; slices by two attributes have no forecasts.

        Raises:
            UsageError: There is no such measure, it isn't nDCG, or a time has no time zone.
        """
        begin, end = read_span(since, until)
        return make_expected(
            self.store,
            self.project,
            self.configuration,
            self._find_forecast(measure),
            every=every,
            since=begin,
            until=end,
            model=model,
            version=version,
            place=slice,
        )

    def forecasts(
        self, measure: str | None = None, *, since: Time | None = None, until: Time | None = None
    ) -> Table:
        """Tabulate how good the forecasts of days were that have become final.

        Args:
            measure: One of the nDCG measures (default: the first).
            since: As in `series`.
            until: The time before which days start.

        Returns:
            One row for each model, version and slice, with `days`; `coverage`, the share of final
            values within their intervals; `bias`, what was expected less the final value on
            average; `error`, the mean of the absolute differences; `half_width` of the intervals;
            how many days were `doubtful`; how many `missed`; and how many of these were doubtful.

        Raises:
            UsageError: There is no such measure, it isn't nDCG, or a time has no time zone.
        """
        begin, end = read_span(since, until)
        return tabulate_forecasts(
            self.store,
            self.project,
            self.configuration,
            self._find_forecast(measure),
            since=begin,
            until=end,
        )

    def _find_forecast(self, measure: str | None) -> str:
        return measure if measure is not None else [*self.forecast_measures, *self.measures][0]

    def signals(
        self,
        *,
        every: Every = "hour",
        since: Time | None = None,
        until: Time | None = None,
        model: str | None = None,
        version: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> dict[str, SignalSeries]:
        """Return the signals over time by name: what was shown, known before labels arrive.

        Args:
            every: The length of the windows: `hour` or `day`.
            since: The start of the first window (default: the oldest that is stored). A `datetime`
                with a time zone, or ISO text.
            until: The time before which windows start.
            model: The model that ranked (default: all together).
            version: Its version (default: all together).
            slice: Pairs of an attribute and its value; the attributes are those configured.

        Raises:
            UsageError: A time has no time zone, or there are no such windows.
        """
        [series] = self.all_signals(
            [(model, version)], every=every, since=since, until=until, slice=slice
        )
        return series

    def all_signals(
        self,
        parts: Sequence[tuple[str | None, str | None]] = ((None, None),),
        *,
        every: Every = "hour",
        since: Time | None = None,
        until: Time | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> list[dict[str, SignalSeries]]:
        """Return the signals over time for several versions, in one read.

        Args:
            parts: Pairs of a model and a version; `None` stands for all together.
            every: As in `signals`, like the next three.
            since: The start of the first window.
            until: The time before which windows start.
            slice: Pairs of an attribute and its value.

        Returns:
            For each pair, the series by signal.
        """
        begin, end = read_span(since, until)
        early = None if begin is None else begin - begin % DAY - REFERENCE_DAYS * DAY
        return make_signal_series(
            self._read_signals(begin, end, HOUR, slice) if read_length(every) == HOUR else (),
            self._read_signals(early, end, DAY, slice),
            parts,
            every=every,
            since=begin,
            slice=slice,
        )

    def _read_signals(
        self, since: int | None, until: int | None, length: int, slice_: Slice
    ) -> Iterator[StoredCell]:
        """Read the signals of a slice."""
        asked = self.store, self.project, self.configuration, since, until
        return read_signals(*asked, length=length, slice=name_place(slice_))

    def rate_warnings(self) -> WarningRecord:
        """Return how many early warnings of the last 90 days labels confirmed, and how early."""
        return rate_warnings(self.store, self.project, self.clock())
