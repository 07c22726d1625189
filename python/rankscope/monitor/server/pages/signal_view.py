"""Signals over time: a small chart of each, with what is usual and what happened meanwhile."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankscope.monitor.ask.signals import BY_NAME, SignalSeries
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.charts.lines import Line, LineChart, Point
from rankscope.monitor.server.pages.groups import Group, list_episodes
from rankscope.monitor.server.pages.measure_view import (
    describe_values,
    draw_series,
    name_version,
    take_values,
)
from rankscope.monitor.server.pages.overview_range import Extent
from rankscope.monitor.signals.kinds import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalView:
    """A signal over time.

    Args:
        signal: The signal.
        series: All rankings together first, then versions that have lines of their own.
        chart: The lines, and what is usual.
    """

    signal: Signal
    series: tuple[SignalSeries, ...]
    chart: LineChart

    @property
    def lines(self) -> tuple[str, ...]:
        """The names of the lines; one without a name where all are together."""
        return tuple(name_version(one.model, one.version) for one in self.series[1:]) or ("",)

    @property
    def newest(self) -> tuple[SignalSeries, int] | None:
        """The newest window with a value of the first line that has one, and its series."""
        for one in self.series:
            at = one.find_newest()
            if at is not None:
                return one, at
        return None

    @property
    def missing(self) -> str:
        """Why it has no value, in a sentence."""
        return "This is compared with the days before, and is known once there are such days."

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        return describe_values(self.series[0], self.write)

    def write(self, value: float) -> str:
        """Write a value."""
        return "–" if math.isnan(value) else f"{100 * value:.1f}%"


def view_signals(
    monitor: Monitor,
    extent: Extent,
    names: Iterable[str],
    *,
    groups: Sequence[Group],
    slice: Slice = (),  # noqa: A002 - the word for it
) -> tuple[SignalView, ...]:
    """Look at some signals over time, with what happened meanwhile."""
    read = monitor.all_signals(
        [(extent.model, extent.version), *((each.model, each.version) for each in extent.lines)],
        every=extent.every,
        since=to_datetime(extent.since),
        until=to_datetime(extent.until),
        slice=slice,
    )
    return tuple(
        _view_signal(BY_NAME[name], tuple(part[name] for part in read), extent, groups)
        for name in names
        if name in BY_NAME
    )


def _view_signal(
    signal: Signal, series: tuple[SignalSeries, ...], extent: Extent, groups: Sequence[Group]
) -> SignalView:
    starts = map(to_micros, series[0].times)
    usual = Line("usual", tuple(map(Point, starts, series[0].usual)), "usual")
    return SignalView(
        signal=signal,
        series=series,
        chart=draw_series(
            series,
            extent,
            take_values,
            episodes=list_episodes(groups, signal=signal.name),
            is_share=True,
            beside=[usual],
        ),
    )
