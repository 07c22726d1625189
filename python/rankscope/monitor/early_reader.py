"""What a project answers before labels arrive: signals and early warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankscope.monitor.ask.series import Every, read_length
from rankscope.monitor.ask.signals import SignalSeries, make_signal_series
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.stored_windows import StoredCell, name_place
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import Time, read_span
from rankscope.monitor.incidents.warnings import WarningRecord, rate_warnings
from rankscope.monitor.opened import OpenedProject
from rankscope.monitor.signals.kinds import REFERENCE_DAYS
from rankscope.monitor.signals.refresh import read_signals


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
