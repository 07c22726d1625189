"""What a project answers before labels arrive: signals and early warnings."""

from __future__ import annotations

from rankscope.monitor.ask.mix import read_mix
from rankscope.monitor.ask.series import read_length
from rankscope.monitor.ask.signals import average_set, make_signal_series
from rankscope.monitor.evaluate.stored_windows import name_place
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import read_span
from rankscope.monitor.incidents.warnings import rate_warnings
from rankscope.monitor.opened import OpenedProject
from rankscope.monitor.signals.kinds import REFERENCE_DAYS
from rankscope.monitor.signals.refresh import find_known, read_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.monitor.ask.mix import Mix
    from rankscope.monitor.ask.series import Every
    from rankscope.monitor.ask.signals import SignalSeries
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.means import Mean
    from rankscope.monitor.evaluate.stored_windows import StoredCell
    from rankscope.monitor.events.times import Time
    from rankscope.monitor.incidents.warnings import WarningRecord


class EarlyReader(OpenedProject):
    """Answers questions about rankings whose labels haven't arrived."""

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
            every: The length of the windows: `hour` or `day`. Signals that are one number a day
                have days in any case.
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

    def baseline_signals(
        self,
        *,
        model: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
    ) -> dict[str, Mean]:
        """Return the means of the signals of the baseline set by name, as of the newest day.

        Args:
            model: The model that ranked (default: all together).
            slice: Pairs of an attribute and its value.

        Returns:
            Those that are known; none where the baseline isn't a set.
        """
        known = find_known(self.store, self.project, self.configuration)
        if known is None:
            return {}
        since = known[1] - (REFERENCE_DAYS + 1) * DAY
        return average_set(self._read_signals(since, None, DAY, slice), model)

    def mix(
        self,
        attribute: str,
        *,
        every: Every = "day",
        since: Time | None = None,
        until: Time | None = None,
        model: str | None = None,
        version: str | None = None,
    ) -> Mix:
        """Return which share of the rankings has each value of an attribute, over time.

        Args:
            attribute: One of the attributes of the configuration.
            every: The length of the windows: `hour` or `day`.
            since: The start of the first window (default: the oldest that is stored). A `datetime`
                with a time zone, or ISO text.
            until: The time before which windows start.
            model: The model that ranked (default: all together).
            version: Its version (default: all together).

        Raises:
            UsageError: The project isn't sliced by the attribute, or a time has no time zone.
        """
        begin, end = read_span(since, until)
        return read_mix(
            self.store,
            self.project,
            self.configuration,
            attribute,
            every=every,
            since=begin,
            until=end,
            model=model,
            version=version,
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
