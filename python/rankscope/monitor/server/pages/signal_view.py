"""Signals over time: a small chart of each, with what is usual and what happened meanwhile."""

from __future__ import annotations

import math

from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.events.bins import read_number
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.server.pages.charts.lines import Level, Line, Point, draw_lines
from rankscope.monitor.server.pages.groups import list_episodes
from rankscope.monitor.server.pages.measure_view import (
    describe_values,
    draw_series,
    name_version,
    take_values,
)
from rankscope.monitor.server.pages.overview_range import MOST_LINES
from rankscope.monitor.signals.kinds import SIGNALS
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.monitor.ask.mix import Mix
    from rankscope.monitor.ask.signals import SignalSeries
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.means import Mean
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.groups import Group
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.signals.kinds import Signal

QUANTILES = tuple(signal for signal in SIGNALS if signal.unit == "score")
"""These are one chart together."""
SHARES = frozenset({"share", "ratio"})
"""Units that are written in percent."""
LIMITS = {"share": (0.0, 1.0), "score": (-math.inf, math.inf)}
"""Between what values lie that aren't just 0 or more."""


@record(frozen=True, slots=True, kw_only=True)
class SignalView:
    """A signal over time.

    Args:
        title: What people call it.
        says: What it says.
        signal: The signal; of several that are drawn together, one.
        series: All rankings together first, then versions that have lines of their own.
        chart: The lines, and what is usual.
        set: The mean over the baseline set; `None` where there is none.
    """

    title: str
    says: str
    signal: Signal
    series: tuple[SignalSeries, ...]
    chart: LineChart
    set: Mean | None = None

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
        if self.signal.grain == "day":
            return "This is known once a whole day is over, and has days before it."
        return "This is compared with the days before, and is known once there are such days."

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        return describe_values(self.series[0], self.write)

    def write(self, value: float) -> str:
        """Write a value."""
        if math.isnan(value):
            return "–"
        return f"{100 * value:.1f}%" if self.signal.unit in SHARES else f"{value:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        return {"signal": self.signal.name, "series": [each.to_dict() for each in self.series]}


@record(frozen=True, slots=True, kw_only=True)
class MixView:
    """The mix of an attribute over time.

    Args:
        mix: The shares.
        chart: A line for each value.
    """

    mix: Mix
    chart: LineChart

    @property
    def names(self) -> tuple[str, ...]:
        """What people call the values."""
        named = {MISSING: f"no {self.mix.attribute}", OTHER: "others"}
        return tuple(named.get(value, value) for value in self.mix.values)

    @property
    def lacks_bins(self) -> bool:
        """Whether its values are numbers, which have no bins yet."""
        numbers = [read_number(value) for value in self.mix.values if value not in {MISSING, OTHER}]
        return len(numbers) > 2 and None not in numbers

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        newest = zip(self.names, self.mix.shares, strict=True)
        said = ", ".join(f"{name} {self.write(shares[-1])}" for name, shares in newest)
        return f"The newest {self.mix.every} of {len(self.mix.times)}: {said}."

    def write(self, share: float) -> str:
        """Write a share."""
        return f"{100 * share:.1f}%"


def view_mixes(monitor: Monitor, extent: Extent) -> tuple[MixView, ...]:
    """Look at the mix of each attribute that has rankings."""
    views = []
    for attribute in monitor.configuration.attributes:
        mix = monitor.mix(
            attribute,
            every=extent.every,
            since=to_datetime(extent.since),
            until=to_datetime(extent.until),
            model=extent.model,
            version=extent.version,
        )
        starts = [*map(to_micros, mix.times)]
        lines = [
            Line(value, tuple(map(Point, starts, shares)))
            for value, shares in zip(mix.values, mix.shares, strict=True)
        ]
        if starts:
            chart = draw_lines(
                lines,
                since=extent.since,
                until=extent.until,
                length=extent.length,
                within=LIMITS["share"],
                is_share=True,
            )
            views.append(MixView(mix=mix, chart=chart))
    return tuple(views)


def view_signals(
    monitor: Monitor,
    extent: Extent,
    *,
    groups: Sequence[Group],
    slice: Slice = (),  # noqa: A002 - the word for it
) -> tuple[SignalView, ...]:
    """Look at all signals over time, with what happened meanwhile."""
    listed = sorted(
        (each for each in extent.versions if not each.folded), key=lambda each: each.first
    )
    # The number of a day is that of one version, so that each has a line of its own.
    apart = extent.lines or tuple(listed[-MOST_LINES:])
    read = monitor.all_signals(
        [(extent.model, extent.version), *((each.model, each.version) for each in apart)],
        every=extent.every,
        since=to_datetime(extent.since),
        until=to_datetime(extent.until),
        slice=slice,
    )
    of_set = monitor.baseline_signals(model=extent.model, slice=slice)
    views = []
    for signal in SIGNALS:
        is_daily = signal.grain == "day"
        if signal in QUANTILES or (is_daily and slice):
            continue
        has_lines = extent.lines or (is_daily and len(apart) > 1)
        views.append(
            _view_signal(
                signal,
                tuple(part[signal.name] for part in (read if has_lines else read[:1])),
                replace(extent, every="day") if is_daily else extent,
                groups,
                of_set.get(signal.name),
            )
        )
    if not slice:
        parts = read if len(apart) > 1 else read[:1]
        views.append(_view_quantiles(parts, replace(extent, every="day")))
    return tuple(views)


def _view_signal(
    signal: Signal,
    series: tuple[SignalSeries, ...],
    extent: Extent,
    groups: Sequence[Group],
    of_set: Mean | None,
) -> SignalView:
    starts = map(to_micros, series[0].times)
    usual = Line("usual", tuple(map(Point, starts, series[0].usual)), "usual")
    level = None if of_set is None else Level("set", of_set.value, of_set.lower, of_set.upper)
    return SignalView(
        title=signal.label,
        says=signal.says,
        signal=signal,
        series=series,
        set=of_set,
        chart=draw_series(
            series,
            extent,
            take_values,
            level=level,
            episodes=list_episodes(groups, signal=signal.name),
            within=LIMITS.get(signal.unit, (0.0, math.inf)),
            is_share=signal.unit in SHARES,
            beside=[usual],
        ),
    )


def _view_quantiles(parts: Sequence[Mapping[str, SignalSeries]], extent: Extent) -> SignalView:
    """Look at the quantiles of scores: the median, and how far the others are from it."""

    def spread(part: Mapping[str, SignalSeries], at: int) -> SignalSeries:
        low, median, high = (part[QUANTILES[place].name] for place in (at, 2, 4 - at))
        return replace(median, lower=low.values, upper=high.values)

    made = tuple(spread(part, 0) for part in parts)
    inner = [Line("", tuple(take_values(spread(part, 1))), "range") for part in parts]
    ends = (end for one in made for end in (*one.lower, *one.upper))
    return SignalView(
        title="Quantiles of scores",
        says="The median of the scores of each day; the bands have half of the scores, and 90%.",
        signal=QUANTILES[2],
        series=made,
        chart=draw_series(
            made,
            extent,
            take_values,
            with_values=tuple(end for end in ends if not math.isnan(end)),
            within=LIMITS["score"],
            beside=inner if len(parts) == 1 else (),
        ),
    )
