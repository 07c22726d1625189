"""Lines over time: where their marks lie, in percent of the plane, so that it fits every page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from itertools import accumulate, groupby, pairwise
from typing import Literal, TypeAlias

from rankscope._web.charts import Axis, choose_axis
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import EPOCH, MICROSECOND

EpisodeKind: TypeAlias = Literal["incident", "early", "labels", "period"]


NAME_WIDTH = 16.0
"""How much of the plane the name of an event may take."""
NAMED_LEFT = 55.0
THINNEST = 0.6
"""An episode is never drawn thinner: it would not be seen."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is drawn of one window.

    Args:
        start: When the window begins, in microseconds since 1970 in UTC.
        value: The value; NaN where there is none.
        lower: The lower end of its interval; NaN where it has none.
        upper: The upper end.
        is_final: Whether no label can change it any more.
    """

    start: int
    value: float
    lower: float = math.nan
    upper: float = math.nan
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """Points in order of time.

    Args:
        name: What they are of; nothing where there is one line only.
        points: The points.
        kind: Empty for values; `usual` for what values are compared with, and `range` for a band
            around the line before it.
    """

    name: str
    points: tuple[Point, ...]
    kind: Literal["", "usual", "range"] = ""


@dataclass(frozen=True, slots=True)
class Level:
    """A level across the chart, such as a baseline.

    Args:
        name: What it is.
        value: Where it lies.
        lower: The lower end of its interval; NaN where it has none.
        upper: The upper end.
    """

    name: str
    value: float
    lower: float = math.nan
    upper: float = math.nan


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a moment, such as a new version.

    Args:
        time: When, in microseconds since 1970 in UTC.
        name: What it is.
    """

    time: int
    name: str


@dataclass(frozen=True, slots=True)
class Episode:
    """Something that lasts, such as an incident.

    Args:
        start: When it began, in microseconds since 1970 in UTC.
        end: When it ended; `None` while it lasts.
        name: What it is.
        kind: `incident`, `labels` while labels are missing, `early` for an early warning, or
            `period` for one of the calendar.
    """

    start: int
    end: int | None
    name: str
    kind: EpisodeKind = "incident"


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as paths, in a plane of 100 by 100.

    Args:
        name: What it is of.
        number: Which of the lines it is, from 1 on: colors and the shapes of dots go by it.
        kind: As of `Line`.
        final: The path through what is final.
        provisional: The path through what is not.
        band: The outline of the intervals.
        alone: Where points without a neighbour lie, which make no line: from the left and from
            above, from 0 to 100.
        last: Where the newest point lies.
    """

    name: str
    number: int
    kind: str
    final: str
    provisional: str
    band: str
    alone: tuple[tuple[float, float], ...]
    last: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class DrawnLevel:
    """A level across the chart.

    Args:
        name: What it is.
        y: Where it lies from above, from 0 to 100.
        top: Where its interval begins.
        height: How high that is.
    """

    name: str
    y: float
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class DrawnEvent:
    """What happened at a moment.

    Args:
        x: Where it lies, from 0 to 100.
        name: What it is.
        is_named: Whether there is room for the name.
        is_left: Whether the name stands to the left.
    """

    x: float
    name: str
    is_named: bool
    is_left: bool


@dataclass(frozen=True, slots=True)
class DrawnEpisode:
    """What lasted.

    Args:
        x: Where it begins, from 0 to 100.
        width: How much of the plane it takes.
        name: What it is.
        kind: As of `Episode`.
    """

    x: float
    width: float
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """A chart of lines.

    Args:
        time: The axis of time.
        axis: The axis of values.
        lines: The lines.
        level: What they are held against, if anything.
        floor: Where the floor lies from above, from 0 to 100; `None` if there is none.
        events: What happened.
        episodes: What lasted, the earliest first.
        length: How long windows are, in microseconds.
        provisional: From where on windows are not final, from 0 to 100; `None` if all are.
        is_share: Whether values are shares, which are written in percent.
    """

    time: TimeAxis
    axis: Axis
    lines: tuple[DrawnLine, ...]
    level: DrawnLevel | None
    floor: float | None
    events: tuple[DrawnEvent, ...]
    episodes: tuple[DrawnEpisode, ...]
    length: int
    provisional: float | None
    is_share: bool = False

    @property
    def rows(self) -> tuple[tuple[float, str], ...]:
        """The ticks of the axis of values: how far from above, and what is written there."""
        return tuple((_flip(self.axis, tick), self._write(tick)) for tick in self.axis.ticks)

    def _write(self, tick: float) -> str:
        if self.is_share:
            return f"{100 * tick:.{max(0, self.axis.places - 2)}f}%"
        return f"{tick:,.{self.axis.places}f}"


def draw_lines(
    lines: Sequence[Line],
    *,
    since: int,
    until: int,
    length: int,
    level: Level | None = None,
    floor: float | None = None,
    events: Iterable[Event] = (),
    episodes: Iterable[Episode] = (),
    within: tuple[float, float] = (-math.inf, math.inf),
    with_values: tuple[float, ...] = (),
    is_share: bool = False,
) -> LineChart:
    """Draw lines.

    Examples:
        >>> line = Line("", (Point(0, 0.5), Point(10, 0.75), Point(30, 0.5)))
        >>> chart = draw_lines([line], since=0, until=40, length=10)
        >>> chart.lines[0].final, len(chart.lines[0].alone)
        ('M12.5 93.1L37.5 6.9', 1)
    """
    time = TimeAxis(since, until)
    least, most = within
    shown = (min(max(end, least), most) for end in _list_ends(lines, level, floor))
    axis = choose_axis([*shown, *with_values], within)
    # What belongs to a line has its number.
    numbers = accumulate(not line.kind for line in lines)
    drawn = tuple(
        _draw(line, max(number, 1), time, axis, length)
        for number, line in zip(numbers, lines, strict=True)
    )
    not_final = [point.start for line in lines for point in line.points if not point.is_final]
    return LineChart(
        time,
        axis,
        drawn,
        None if level is None else _draw_level(level, axis),
        None if floor is None else _flip(axis, floor),
        _draw_events([each for each in events if since <= each.time < until], time),
        tuple(_draw_episodes(episodes, time)),
        length,
        time.place(min(not_final)) if not_final else None,
        is_share,
    )


def _draw_events(events: Iterable[Event], time: TimeAxis) -> tuple[DrawnEvent, ...]:
    """Place events, and name those whose names have room."""
    drawn: list[DrawnEvent] = []
    free = -math.inf
    for each in sorted(events, key=lambda one: one.time):
        x = time.place(each.time)
        # Names stand to the right of their line, but for those that would not fit there.
        is_left = x > NAMED_LEFT
        left = x - NAME_WIDTH if is_left else x
        is_named = left >= free
        if is_named:
            free = left + NAME_WIDTH
        drawn.append(DrawnEvent(x, each.name, is_named, is_left))
    return tuple(drawn)


def _draw_episodes(episodes: Iterable[Episode], time: TimeAxis) -> Iterator[DrawnEpisode]:
    for each in sorted(episodes, key=lambda one: one.start):
        end = time.until if each.end is None else each.end
        if each.start < time.until and end > time.since:
            x = time.place(each.start)
            width = max(round(time.place(end) - x, 3), THINNEST)
            yield DrawnEpisode(min(x, 100 - width), width, each.name, each.kind)


def _list_ends(lines: Sequence[Line], level: Level | None, floor: float | None) -> list[float]:
    """List what the axis of values shows: values, the level, and intervals as far as there is room.

    The interval of a window of few rankings may be much wider than all that happens.
    """
    points = [point for line in lines for point in line.points if not math.isnan(point.value)]
    shown = [point.value for point in points]
    if level is not None:
        shown += [level.value, level.lower, level.upper]
    if floor is not None:
        shown.append(floor)
    shown = [value for value in shown if not math.isnan(value)]
    if not shown:
        return [0.0, 1.0]
    low, high = min(shown), max(shown)
    room = (high - low) / 2
    for point in points:
        if not math.isnan(point.lower):
            shown += [max(point.lower, low - room), min(point.upper, high + room)]
    return shown


def _draw(line: Line, number: int, time: TimeAxis, axis: Axis, length: int) -> DrawnLine:
    places = [
        (time.place(point.start + length // 2), point)
        for point in line.points
        if not math.isnan(point.value)
    ]
    final: list[str] = []
    provisional: list[str] = []
    bands: list[str] = []
    alone: list[tuple[float, float]] = []
    for run in _split(places, length):
        if len(run) == 1:
            alone.append((run[0][0], _flip(axis, run[0][1].value)))
        bands.append(_outline(run, axis))
        # What leads to a window that is not final is not final.
        kinds = [each.is_final and other.is_final for (_, each), (_, other) in pairwise(run)]
        for is_final, steps in groupby(range(len(kinds)), key=kinds.__getitem__):
            own = list(steps)
            path = _join((x, _flip(axis, point.value)) for x, point in run[own[0] : own[-1] + 2])
            (final if is_final else provisional).append(path)
    last = (places[-1][0], _flip(axis, places[-1][1].value)) if places else None
    return DrawnLine(
        line.name,
        number,
        line.kind,
        "".join(final),
        "".join(provisional),
        "".join(bands),
        tuple(alone),
        last,
    )


def _split(places: list[tuple[float, Point]], length: int) -> Iterator[list[tuple[float, Point]]]:
    """Split points where there is a gap between windows."""
    run: list[tuple[float, Point]] = []
    for each in places:
        if run and each[1].start - run[-1][1].start > length:
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _outline(run: list[tuple[float, Point]], axis: Axis) -> str:
    """Go along the upper ends of intervals, and back along the lower ones."""
    known = [(x, point) for x, point in run if not math.isnan(point.lower)]
    if len(known) < 2:
        return ""
    upper = [(x, _flip(axis, point.upper)) for x, point in known]
    lower = [(x, _flip(axis, point.lower)) for x, point in reversed(known)]
    return _join([*upper, *lower]) + "Z"


def _draw_level(level: Level, axis: Axis) -> DrawnLevel:
    y = _flip(axis, level.value)
    if math.isnan(level.lower):
        return DrawnLevel(level.name, y, y, 0.0)
    top, bottom = _flip(axis, level.upper), _flip(axis, level.lower)
    return DrawnLevel(level.name, y, top, round(bottom - top, 3))


def _join(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places)


def _flip(axis: Axis, value: float) -> float:
    """Return how far a value is from the top, from 0 to 100."""
    return round(100 - axis.place(value), 2)


STEPS = (HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 1200, 12000)
MONTH = 30 * DAY
MOST = 8
"""How many ticks there are at most."""
MONDAY = 4 * DAY
"""The first Monday after the beginning of 1970: weeks are counted from it."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment on the axis.

    Args:
        place: Where it lies, from 0 to 100.
        text: What stands below it.
    """

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A scale from one moment to another, in microseconds since 1970 in UTC.

    Args:
        since: Its left end.
        until: Its right end.

    Examples:
        >>> axis = TimeAxis(0, 2 * DAY)
        >>> [tick.text for tick in axis.ticks]
        ['1 Jan', '06:00', '12:00', '18:00', '2 Jan', '06:00', '12:00', '18:00', '3 Jan']
        >>> axis.place(DAY)
        50.0
    """

    since: int
    until: int

    def place(self, time: int) -> float:
        """Return the place of a moment on the axis, from 0 to 100."""
        share = (time - self.since) / (self.until - self.since)
        return round(100 * min(max(share, 0.0), 1.0), 3)

    @property
    def step(self) -> int | None:
        """How far ticks are apart, in microseconds; `None` where they are months or years."""
        span = self.until - self.since
        return next((step for step in STEPS if span <= MOST * step), None)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Round moments on it."""
        step = self.step
        if step is None:
            return tuple(self._list_months(self.until - self.since))
        # Days and less are counted from midnight, weeks from Mondays.
        origin = MONDAY if step % (7 * DAY) == 0 else 0
        first = -(-(self.since - origin) // step) * step + origin
        return tuple(
            Tick(self.place(time), _write(time)) for time in range(first, self.until + 1, step)
        )

    def _list_months(self, span: int) -> Iterator[Tick]:
        step = next(months for months in MONTHS if span <= MOST * months * MONTH)
        start = _read(self.since)
        months = 12 * start.year + start.month - 1
        if start > datetime(start.year, start.month, 1, tzinfo=UTC):
            months += 1
        months = -(-months // step) * step
        while months // 12 <= MAXYEAR:
            at = datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
            time = (at - EPOCH) // MICROSECOND
            if time > self.until:
                return
            yield Tick(self.place(time), f"{at:%Y}" if step >= 12 else f"{at:%b %Y}")
            months += step


def _write(time: int) -> str:
    at = _read(time)
    return f"{at:%H:%M}" if time % DAY else f"{at.day} {at:%b}"


def _read(time: int) -> datetime:
    return EPOCH + timedelta(microseconds=time)
