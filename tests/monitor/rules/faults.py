"""Faults of the data of a project: at least one for each watch of the rule about data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import MISSING, Slicing
from rankscope.monitor.evaluate.stored_windows import AGES
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import NameCounts
from rankscope.monitor.rules.data.counts import TOTAL, Counts, DayCounts, Segment
from rankscope.monitor.rules.state import StreamKey
from rankscope.monitor.store.records import Version

Change = Callable[[int, "Shown"], "Iterable[Shown]"]

START = 20_003 * DAY
"""A Monday."""
HISTORY = 21
"""How many days come before the first fault."""
AN_HOUR = 240
REPEATED = 60
"""After so many hours, the same is shown again."""
CONFIGURATION = Configuration(
    definition=define(measures=["RR@3"], positive="click", window=600),
    attributes=("device",),
    baseline=None,
    grace="10m",
)


class Shown(NamedTuple):
    number: int
    model: str
    version: str
    device: str | None
    clicks: int
    label: str = "click"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that goes wrong, the watch that finds it, and the stream of its incident.

    `change` returns what comes instead of a ranking, `told` is how the reason begins, `hours` what
    it takes to be found and to be over, at most, and `follows` what kinds of incidents it causes.
    """

    name: str
    watch: str
    key: StreamKey
    change: Change
    told: str
    hours: int = 12
    follows: frozenset[str] = frozenset()


@cache
def show_hour(hour):
    return [
        Shown(
            number,
            "gbdt" if number % 2 else "trees",
            "2" if number % 4 == 2 else "1",
            ("phone", "tablet", "tv", "web", "phone")[number // 4 % 5],
            0 if (number + hour) % 20 == 7 else 1,
        )
        for number in range(AN_HOUR)
    ]


class FaultyCounts(Counts):
    """The counts of what comes with faults that begin and end at some hours, without a store."""

    def __init__(self, faults=()):
        values = {each.device for each in show_hour(0) if each.device}
        super().__init__(CONFIGURATION, Slicing((("device", (*sorted(values), "television")),)))
        self.faults = faults

    @property
    def versions(self):
        return VERSIONS

    def _lasting(self, time):
        hour = (time - START) // HOUR
        lasting = tuple(one for one, at, end in self.faults if at <= hour < end)
        return hour % REPEATED, lasting

    def _count(self, time):
        return Counted({}, {}, {}, {}, {}) if time < START else count(*self._lasting(time))

    def _show(self, time):
        return () if time < START else show(*self._lasting(time))

    def count_days(self, since, until):
        return {day: self._count_day(day) for day in range(since, until, DAY)}

    def _count_day(self, day):
        counts = DayCounts({TOTAL: [0] * 24}, {}, {}, {}, [*(1 for _ in AGES), 0])
        for hour in range(24):
            found = self._count(day + hour * HOUR)
            for segment, number in found.rankings.items():
                counts.rankings.setdefault(segment, [0] * 24)[hour] = number
            for summed, more in zip(counts[1:4], found[1:4], strict=True):
                for model, number in more.items():
                    summed[model] = summed.get(model, 0) + number
        return counts

    def count_labels(self, day):
        found = Counter()
        for hour in range(24):
            found.update(self._count(day + hour * HOUR).clicks)
        return {model: {"click": number} for model, number in found.items()}

    def find_mismatches(self, since, until):
        names = NameCounts()
        for time in range(since, until, HOUR):
            for each in self._show(time):
                names.add_rankings(["device"] if each.device else [], 1)
                names.add_labels([each.label], each.clicks)
        return names.compare(CONFIGURATION.expected)

    def has_labels(self, since, until, before):
        return since < min(until, before) and any(each.clicks for each in self._show(since))


class Counted(NamedTuple):
    rankings: Mapping[Segment, int]
    sizes: Mapping[str, int]
    labelled: Mapping[str, int]
    empty: Mapping[str, int]
    clicks: Mapping[str, int]


@cache
def count(hour, faults):
    shown = show(hour, faults)
    segments = Counter(
        segment
        for each in shown
        for segment in (
            TOTAL,
            Segment(each.model),
            Segment(each.model, each.version),
            Segment(slice=(("device", each.device or MISSING),)),
        )
    )
    return Counted(
        segments,
        Counter(each.model for each in shown),
        Counter(each.model for each in shown if each.clicks),
        Counter(each.model for each in shown if not each.clicks or each.label != "click"),
        Counter(each.model for each in shown for _ in range(each.clicks) if each.label == "click"),
    )


def find_ratio(faults):
    """Return which part of the usual number comes of the segment that the last fault is about."""
    _, model, version, where = faults[-1].key
    segment = Segment(model, version, where)
    left, usual = (
        sum(count(hour, each).rankings.get(segment, 0) for hour in range(REPEATED))
        for each in (tuple(faults), ())
    )
    return left / usual


@cache
def show(hour, faults):
    shown = show_hour(hour)
    for fault in faults:
        shown = [*chain.from_iterable(fault.change(hour, each) for each in shown)]
    return tuple(shown)


def hides(fault, other):
    """Return whether a fault leaves nothing that another one could change."""
    hours = range(REPEATED)
    if other.key[0] in {"labels", "relevance"}:
        return not any(count(hour, (fault,)).clicks for hour in hours)
    return all(show(hour, (fault,)) == show(hour, (fault, other)) for hour in hours)


def _keep(is_kept):
    return lambda hour, each: [each] if is_kept(hour, each) else []


def _set(is_changed, **said):
    return lambda hour, each: [each._replace(**said) if is_changed(hour, each) else each]


def _move_clicks(_hour, each):
    return [each._replace(clicks=2 * each.clicks if each.number % 4 < 2 else 0)]


def _is_some(hour, each, of):
    """Return whether a ranking is one of so many, spread over all that there are."""
    return (each.number // 2 * 7 + hour) % of == 0


LAST = START + (HISTORY + 30) * DAY
VERSIONS = tuple(
    Version(*name, "production", START, LAST, 1)
    for name in sorted({(each.model, each.version) for each in show_hour(0)})
)
FAULTS = (
    Fault(
        name="clicks are called Click",
        told="In the last day, ",
        watch="names",
        key=("names", "", "", (("label", "click"),)),
        change=_set(lambda _hour, each: each.clicks > 0, label="Click"),
        hours=24,
        follows=frozenset({"labels"}),
    ),
    Fault(
        name="no rankings arrive",
        told="No rankings have arrived since 28 Oct 2024; before, about 5,760 a day.",
        watch="silence",
        key=("freshness", "", "", ()),
        change=_keep(lambda _hour, _each: False),
    ),
    Fault(
        name="model gbdt shows nothing",
        told="Model gbdt has shown no rankings since 28 Oct 2024; before, about 2,880 a day.",
        watch="models",
        key=("versions", "gbdt", "", ()),
        change=_keep(lambda _hour, each: each.model != "gbdt"),
    ),
    Fault(
        name="model gbdt shows little",
        told="Rankings of model gbdt have fallen to ",
        watch="model_volumes",
        key=("volume", "gbdt", "", ()),
        change=_keep(lambda hour, each: each.model != "gbdt" or _is_some(hour, each, 8)),
    ),
    Fault(
        name="an eighth of the rankings arrives",
        told="Rankings have fallen to ",
        watch="volume",
        key=("volume", "", "", ()),
        change=_keep(lambda hour, each: _is_some(hour, each, 8)),
    ),
    Fault(
        name="five times the rankings arrive",
        told="Rankings have risen to ",
        watch="volume",
        key=("volume", "", "", ()),
        change=lambda _hour, each: [each] * 5,
    ),
    Fault(
        name="trees falls back to version 1",
        told="Version 2 of model trees has shown no rankings since ",
        watch="versions",
        key=("versions", "trees", "2", ()),
        change=_set(lambda _hour, each: each.version == "2", version="1"),
    ),
    Fault(
        name="the device is missing",
        told="device is missing in ",
        watch="missing",
        key=("attributes", "", "", (("device", "<missing>"),)),
        change=_set(lambda hour, each: _is_some(hour, each, 3), device=None),
        hours=42,
    ),
    Fault(
        name="tv is called television",
        told="device=tv vanished on 28 Oct 2024, and television is new; before, about 1,152",
        watch="new_values",
        key=("attributes", "", "", (("device", "tv"),)),
        change=_set(lambda _hour, each: each.device == "tv", device="television"),
    ),
    Fault(
        name="web has become phone",
        told="device=web vanished on 28 Oct 2024; before, about 1,152 rankings a day.",
        watch="values",
        key=("attributes", "", "", (("device", "web"),)),
        change=_set(lambda _hour, each: each.device == "web", device="phone"),
    ),
    Fault(
        name="most tablets have become phones",
        told="Rankings with device=tablet have fallen to ",
        watch="value_volumes",
        key=("volume", "", "", (("device", "tablet"),)),
        change=_set(
            lambda hour, each: each.device == "tablet" and not _is_some(hour, each, 8),
            device="phone",
        ),
    ),
    Fault(
        name="no labels arrive",
        told="No labels have arrived for rankings since ",
        watch="label_silence",
        key=("label_freshness", "", "", ()),
        change=_set(lambda _hour, _each: True, clicks=0),
    ),
    Fault(
        name="half of the labels are lost",
        told="Rankings have fewer labels than usual since ",
        watch="labels",
        key=("labels", "", "", ()),
        change=_set(lambda _hour, each: each.number % 8 < 4, clicks=0),
        hours=24,
    ),
    Fault(
        name="half of the rankings have no relevant document",
        told="52% of rankings on 28 Oct 2024 have no relevant document; 5% is usual.",
        watch="relevance",
        key=("relevance", "", "", ()),
        change=_move_clicks,
        hours=24,
    ),
)
