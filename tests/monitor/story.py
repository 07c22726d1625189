"""The reference results of the story: one search, one track, one deed at a time.

Nothing here is shared with what measures production: events are read as they were sent, grades are
added up by hand, and values are computed as they are defined.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

from rankscope._demo.story import DEVICE, POSITIVE, VERSIONS, WINDOW, Story
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.why.result import Trace

Pair: TypeAlias = tuple[str, float, float]


TAKEN = frozenset({"", "late", "unshown", "orphan", "behind"})
"""The faults of events that are stored nevertheless."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOSSES = ("truncation", "ordering")


@dataclass(frozen=True, slots=True)
class JudgedSearch:
    """A search and the grades of its tracks.

    Args:
        name: Of its search group.
        time: When, in microseconds since 1970 in UTC.
        environment: `production`, or `validation`.
        version: The version of the model that ranked.
        query: What was searched for.
        user: The listener.
        attributes: Country, device and type of the query, as far as known.
        tracks: What was shown, in order.
        grades: Their grades, in the same order; `None` while they may still come.
        is_final: Whether no label can change it any more.
    """

    name: str
    time: int
    environment: str
    version: str
    query: str
    user: str
    attributes: Mapping[str, str]
    tracks: tuple[str, ...]
    grades: tuple[float | None, ...]
    is_final: bool

    def value(self, measure: str) -> float:
        """Return the value of `nDCG@k` or of a loss such as `ordering@k`; NaN if undefined."""
        kernel, _, k = measure.partition("@")
        return _measure(kernel, int(k), self.grades)


@dataclass(frozen=True, slots=True)
class SlicePart:
    """The contribution of a slice to the change of a mean between two groups of searches.

    Args:
        means: Their means.
        mix: What it adds by its share.
        within: What it adds by its mean.
        losses: What of that each loss makes, by its name.
    """

    means: tuple[float, float]
    mix: float
    within: float
    losses: Mapping[str, float]


def judge(story: Story, now: int | None = None) -> list[JudgedSearch]:
    """Grade the searches of a story."""
    now = story.end if now is None else now
    said = [each for each in story.deliveries if each.arrives <= now and each.fault in TAKEN]
    deeds: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for each in said:
        if each.route == "labels":
            deeds[each.event["ranking_id"], each.event["doc_id"]].append(each.event)
    shown = [each.event for each in said if each.route == "rankings"]
    return [_judge_search(event, deeds, now) for event in (*story.validation, *shown)]


def mean(searches: Iterable[JudgedSearch], measure: str) -> float:
    """Average a measure over the searches that have a value."""
    values = [search.value(measure) for search in searches]
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def split(
    before: Sequence[JudgedSearch],
    after: Sequence[JudgedSearch],
    measure: str,
    name: Callable[[JudgedSearch], str],
) -> dict[str, SlicePart]:
    """Split the change of a mean between two groups of searches by slices, all of them in both."""
    sides = [
        [search for search in side if not math.isnan(search.value(measure))]
        for side in (before, after)
    ]
    overall = sum(mean(side, measure) for side in sides)
    k = measure.partition("@")[2]
    parts = {}
    for one in sorted({name(search) for search in sides[0]}):
        old, new = ([search for search in side if name(search) == one] for side in sides)
        shares = len(old) / len(sides[0]), len(new) / len(sides[1])
        means = mean(old, measure), mean(new, measure)
        share = sum(shares) / 2
        parts[one] = SlicePart(
            means,
            (shares[1] - shares[0]) * (sum(means) - overall) / 2,
            share * (means[1] - means[0]),
            # A value falls by what its losses grow.
            {
                loss: share * (mean(old, f"{loss}@{k}") - mean(new, f"{loss}@{k}"))
                for loss in LOSSES
            },
        )
    return parts


def _judge_search(
    event: Mapping[str, Any],
    deeds: Mapping[tuple[str, str], list[Mapping[str, Any]]],
    now: int,
) -> JudgedSearch:
    name, time = event["ranking_id"], _read_time(event)
    environment = event.get("environment", "production")
    is_final = environment == "validation" or time + WINDOW <= now
    items = sorted(event["items"], key=itemgetter("rank"))
    return JudgedSearch(
        name,
        time,
        environment,
        event["version"],
        event["query_key"],
        event["user_id"],
        event["attributes"],
        tuple(item["doc_id"] for item in items),
        tuple(
            item["relevance"]
            if "relevance" in item
            else _grade(deeds.get((name, item["doc_id"]), ()), time, now, is_final=is_final)
            for item in items
        ),
        is_final,
    )


def _grade(
    deeds: Iterable[Mapping[str, Any]], shown: int, now: int, *, is_final: bool
) -> float | None:
    """Add up what was done with a track in time, as it was last said to be."""
    total, is_known = 0.0, False
    for time, _, event in sorted((_read_time(deed), deed["event_id"], deed) for deed in deeds):
        if time >= shown + WINDOW or time > now:
            continue
        kind = event.get("kind", "label")
        if kind != "label":
            total, is_known = 0.0, False
        if kind != "retraction":
            total, is_known = total + sum(POSITIVE[label] for label in event["labels"]), True
    return total if is_known else 0.0 if is_final else None


def _read_time(event: Mapping[str, Any]) -> int:
    return (datetime.fromisoformat(event["time"]) - EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=100_000)
def _measure(name: str, k: int, grades: tuple[float | None, ...]) -> float:
    """Return nDCG, or what of 1 is lost below the cutoff or by the order above it."""
    gains = [grade or 0.0 for grade in grades]
    best = _discount(sorted(gains, reverse=True)[:k])
    shown, found = _discount(sorted(gains[:k], reverse=True)), _discount(gains[:k])
    values = {"nDCG": found, "truncation": best - shown, "ordering": shown - found}
    return max(values[name], 0.0) / best if best > 0 else math.nan


def _discount(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


ROUNDING = 1e-12
"""The tolerance for numbers that are added up in another order."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the comparison.

    Args:
        numbers: How many there are.
        differing: What differs, and how.
    """

    numbers: int
    differing: tuple[str, ...]


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
