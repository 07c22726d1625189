"""Compares the results of a monitor with the reference."""

from __future__ import annotations

import math
from collections import defaultdict

from rankscope.demo.expected import judge, mean, split
from rankscope.demo.story import DEVICE, VERSIONS
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from rankscope.demo.expected import JudgedSearch
    from rankscope.demo.story import Story
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.why.result import Trace

    # What a number is, what was found, and what it must be.
    Pair: TypeAlias = tuple[str, float, float]

ROUNDING = 1e-12
"""The tolerance for numbers that are added up in another order."""


@record(frozen=True, slots=True)
class Checked:
    """The result of the comparison.

    Args:
        numbers: How many there are.
        differing: What differs, and how.
    """

    numbers: int
    differing: tuple[str, ...]


def list_spans(story: Story) -> tuple[Span, Span]:
    """Return the spans to compare: the old version until the release, and the new one since."""
    before, after = VERSIONS
    return (
        Span(to_datetime(story.start), to_datetime(story.release), version=before),
        Span(to_datetime(story.release), to_datetime(story.end), version=after),
    )


def check_monitor(story: Story, monitor: Monitor, trace: Trace) -> Checked:
    """Compare the results of a monitor with the reference."""
    searches = judge(story)
    pairs = [
        *_check_baseline(searches, monitor),
        *_check_days(searches, monitor),
        *_check_trace(searches, trace),
        *_check_fallen(searches, monitor, trace),
    ]
    return Checked(
        len(pairs),
        tuple(
            f"{name}: found {found}, expected {expected}"
            for name, found, expected in pairs
            if not (
                math.isclose(found, expected, rel_tol=0, abs_tol=ROUNDING)
                or math.isnan(found) is math.isnan(expected) is True
            )
        ),
    )


def _check_baseline(searches: Sequence[JudgedSearch], monitor: Monitor) -> Iterator[Pair]:
    judged = [each for each in searches if each.environment == "validation"]
    baseline = monitor.baseline()
    for measure in monitor.measures:
        found = math.nan if baseline is None else baseline.means[measure].value
        yield f"baseline {measure}", found, mean(judged, measure)


def _check_days(searches: Sequence[JudgedSearch], monitor: Monitor) -> Iterator[Pair]:
    for version in VERSIONS:
        for where in ({}, {"device": DEVICE}):
            days = defaultdict(list)
            for each in searches:
                is_there = where.items() <= each.attributes.items()
                if each.environment == "production" and each.version == version and is_there:
                    days[each.time - each.time % DAY].append(each)
            for measure in monitor.measures:
                series = monitor.series(
                    measure, every="day", version=version, slice=tuple(where.items())
                )
                name = f"{measure} of version {version} {where}"
                yield f"days of {name}", len(series), len(days)
                for start, value in zip(map(to_micros, series.times), series.values, strict=True):
                    yield f"{name} at {start}", value, mean(days[start], measure)


def _check_trace(searches: Sequence[JudgedSearch], trace: Trace) -> Iterator[Pair]:
    """Compare the breakdown of the change: the harmed slice, if it was found, and all others."""
    before, after = (list_final(searches, version) for version in VERSIONS)
    means = mean(before, trace.measure), mean(after, trace.measure)
    yield "mean before", trace.decomposition.means[0], means[0]
    yield "mean after", trace.decomposition.means[1], means[1]
    yield "change", trace.change, means[1] - means[0]
    parts = split(before, after, trace.measure, _name_side)
    lines = {each.name: each for each in trace.decomposition.slices}
    if lines.keys() != parts.keys():
        return
    for name, part in parts.items():
        line = lines[name]
        yield f"{name} by its share", line.mix, part.mix
        yield f"{name} by its mean", line.within, part.within
        for loss, expected in part.losses.items():
            found = line.losses[loss]
            yield f"{name} by {loss}", math.nan if found is None else found, expected


def _check_fallen(
    searches: Sequence[JudgedSearch], monitor: Monitor, trace: Trace
) -> Iterator[Pair]:
    """Compare the values of the searches whose queries fell most."""
    known = {each.name: each for each in searches}
    for ranking_id in trace.fallen.column("ranking_id"):
        explained = monitor.explain(str(ranking_id), trace.measure)
        expected = known[str(ranking_id)].value(trace.measure)
        yield f"value of {ranking_id}", explained.value, expected


def list_final(searches: Sequence[JudgedSearch], version: str) -> list[JudgedSearch]:
    """List the searches of production that a version ranked and no label can change any more."""
    return [
        each
        for each in searches
        if each.environment == "production" and each.is_final and each.version == version
    ]


def _name_side(search: JudgedSearch) -> str:
    return f"device={DEVICE}" if search.attributes["device"] == DEVICE else "all others"
