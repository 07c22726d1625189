"""Signals over time: what was shown and how it was ordered, known before labels arrive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from rankscope.monitor.ask.series import LENGTHS, LEVEL, Every, gather_windows
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.clusters import Spread, find_interval
from rankscope.monitor.evaluate.stored_windows import StoredCell, add_cells
from rankscope.monitor.evaluate.windows import Cell
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.signals.kinds import NAMES, REFERENCE_DAYS, SIGNALS, Signal
from rankscope.monitor.store.deadline import check_deadline

_Sums: TypeAlias = tuple[Cell, Spread, tuple[float, ...]]


BY_NAME: Mapping[str, Signal] = {signal.name: signal for signal in SIGNALS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSeries:
    """A signal over time, one value for each window that has rankings.

    Args:
        signal: The name of the signal.
        every: The length of the windows.
        model: The model that ranked; all together where it is `None`.
        version: Its version; likewise.
        slice: Names of attributes and values; empty for all rankings.
        level: The probability with which intervals cover.
        times: When the windows begin, in UTC, ascending.
        values: The mean over rankings; NaN where it can't be known.
        lower: The lower ends of the intervals, over users, or over queries where users are
            unknown; a user counts once an hour. NaN where there are fewer than two.
        upper: The upper ends.
        usual: The mean over the 7 days before the day of the window, of all versions of the model;
            NaN where these have no value.
        defined: How many rankings have a value.
        rankings: How many rankings there are.
    """

    signal: str
    every: Every
    model: str | None
    version: str | None
    slice: Slice
    level: float
    times: tuple[datetime, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    usual: tuple[float, ...]
    defined: tuple[int, ...]
    rankings: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.times)

    def find_newest(self) -> int | None:
        """Return the place of the newest window with a value; `None` if none has one."""
        known = (at for at, value in enumerate(self.values) if not math.isnan(value))
        return max(known, default=None)

    @property
    def is_final(self) -> tuple[bool, ...]:
        """All windows are final: what arrives later doesn't count."""
        return (True,) * len(self.times)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it, with what people call it; a missing value is `None`."""
        return {
            "signal": self.signal,
            "label": BY_NAME[self.signal].label,
            **{
                "starts" if name == "times" else name: value
                for name, value in write_record(self).items()
            },
        }


def make_signal_series(
    cells: Iterable[StoredCell],
    days: Iterable[StoredCell],
    parts: Sequence[tuple[str | None, str | None]],
    *,
    every: Every,
    since: int | None,
    slice: Slice,  # noqa: A002 - the word for it
) -> list[dict[str, SignalSeries]]:
    """Return the series of all signals for several versions from the cells of one slice.

    Args:
        cells: The windows of the span.
        days: The days of the span, and those before it, with which they are compared.
        parts: Pairs of a model and a version; `None` stands for all together.
        every: The length of the windows.
        since: When the span begins.
        slice: The slice.
    """
    daily = list(days)
    models = list(dict.fromkeys(model for model, _ in parts))
    before = dict(
        zip(models, gather_windows(daily, [(model, None) for model in models], DAY), strict=True)
    )
    usual = {model: _find_usual(before[model]) for model in models}
    begin = -math.inf if since is None else since
    shown = cells if every == "hour" else [cell for cell in daily if cell.key.start >= begin]
    windows = gather_windows(shown, parts, LENGTHS[every])
    made = []
    for of, (model, version) in zip(windows, parts, strict=True):
        summed = {start: _sum(of[start]) for start in sorted(of)}
        made.append(
            {
                signal.name: _make_one(
                    signal,
                    summed,
                    usual[model],
                    every=every,
                    model=model,
                    version=version,
                    slice=slice,
                )
                for signal in SIGNALS
            }
        )
    return made


def _sum(cells: list[StoredCell]) -> _Sums:
    check_deadline()
    total, spread = add_cells(cells)
    return total, spread, total.means()


def _measure(signal: Signal, sums: _Sums) -> tuple[float, float, float, int]:
    """Return the value of a signal, the ends of its interval, and how many rankings have one."""
    total, spread, means = sums
    at = NAMES.index(signal.name)
    count = total.defined[at]
    lower = upper = math.nan
    if spread and count:
        lower, upper = find_interval(spread[at], mean=means[at], count=count, level=LEVEL)
        # No share is below 0 or above 1.
        lower, upper = max(lower, 0.0), min(upper, 1.0)
    return means[at], lower, upper, count


def _make_one(
    signal: Signal,
    summed: Mapping[int, _Sums],
    usual: Mapping[int, tuple[float, ...]],
    *,
    every: Every,
    **said: Any,  # noqa: ANN401 - what the series is of
) -> SignalSeries:
    at = NAMES.index(signal.name)
    rows = []
    for start, sums in summed.items():
        value, lower, upper, count = _measure(signal, sums)
        known = usual.get(start - start % DAY)
        base = math.nan if known is None else known[at]
        rows.append((value, lower, upper, base, count, sums[0].tally("rankings")))
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    named: dict[str, Any] = dict(zip(COLUMNS, columns, strict=True))
    return SignalSeries(
        signal=signal.name,
        every=every,
        level=LEVEL,
        times=tuple(map(to_datetime, summed)),
        **named,
        **said,
    )


COLUMNS = ("values", "lower", "upper", "usual", "defined", "rankings")


def _find_usual(days: Mapping[int, list[StoredCell]]) -> dict[int, tuple[float, ...]]:
    """Return the means of all columns over the days before each day, by its start."""
    usual = {}
    for day in days:
        before = [
            cell
            for start in range(day - REFERENCE_DAYS * DAY, day, DAY)
            for cell in days.get(start, ())
        ]
        if before:
            usual[day] = add_cells(before)[0].means()
    return usual
