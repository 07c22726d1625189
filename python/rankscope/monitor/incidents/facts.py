"""What changed in the lists when values did: the stored signals that weren't as usual then.

They are compared with the days before as early warnings are. That something changed at the same
time doesn't prove that it is the cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.ask.cause import leave_out_rankers
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.evaluate.stored_windows import name_place
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import format_time, read_span, to_micros
from rankscope.monitor.incidents.grouping import ANY
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.rules.data.counts import PRODUCTION, Segment
from rankscope.monitor.rules.early.cells import Cells, get_rows
from rankscope.monitor.rules.early.check import weigh
from rankscope.monitor.rules.early.progress import Fact
from rankscope.monitor.rules.early.usual import (
    DAYS,
    FEWEST_DAYS,
    HOURS,
    Sums,
    accumulate,
    add_up,
)
from rankscope.monitor.rules.early.words import CHANGES, write_fact
from rankscope.monitor.signals.kinds import REFERENCE_DAYS, SIGNALS
from rankscope.monitor.signals.refresh import find_known, read_signals
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import Version
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.why.result import Trace

LENGTHS = (24, 72)
"""So many hours together are compared with the same hours of the days before, first a day."""
LEAST_REST = 6
"""If fewer hours of the day are left when a version comes, a whole day tells of what lists are
compared with."""
NEAR = 2 * DAY
"""Values tell to within so much when they fell. A version that came so shortly before is when."""
REACH = DAYS + 4
"""The days before among which those are that count, as the last ones may be left out."""
CHANCE = 0.05
"""How often anything is named where nothing changed, at most. That hours are cut in several ways
isn't counted: in simulated quarters without a fault, it is less than 1 % of the times."""
MOST = 3


def find_facts(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    stream: Segment,
    *,
    since: int,
    until: int,
    near: float = NEAR,
) -> tuple[dict[str, Any], ...]:
    """Return the signals of a stream that changed when values did, the most striking first.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        stream: The model, the version and the slice; empty for all.
        since: When values changed.
        until: When what is compared ends.
        near: If the version came by so much before, the moment is when it came.
    """
    known = find_known(store, project, configuration)
    versions = store.versions(project)
    came = _find_first(versions, stream)
    is_arrival = came is not None and came >= since - near
    moment = came if came is not None and is_arrival else since
    moment -= moment % HOUR
    if known is None or min(until, known[1]) < moment + HOUR:
        return ()
    # A slice that has no signals may have attributes that do.
    pairs = [(pair,) for pair in stream.slice if len(stream.slice) > 1]
    for place in dict.fromkeys((stream.slice, *pairs, ())):
        if any(value == OTHER for _, value in place):
            continue  # a trace combines other values
        read = partial(read_signals, store, project, configuration, slice=name_place(place))
        found = _compare(
            Cells(read, range(len(SIGNALS))),
            stream._replace(slice=place),
            moment,
            min(until, known[1]),
            calendar=configuration.calendar,
            is_exact=is_arrival,
        )
        if found is not None:
            earlier = _find_earlier(versions, stream, moment) if is_arrival else ""
            return tuple(
                write_fact(fact, earlier) | {"since": format_time(fact.began)}
                for fact in found[:MOST]
            )
    return ()


def find_facts_of_incident(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    incident: Incident,
    cause: Mapping[str, Any] | None,
    *,
    now: int,
) -> tuple[dict[str, Any], ...]:
    """Return what changed in the lists when quality fell: of its cause, or else of its slice."""
    place = tuple(dict((cause or {}).get("slice") or incident.slice).items())
    named = dict(place)
    is_alike = ((cause or {}).get("comparison") or {}).get("conclusion") == "alike"
    version = "" if is_alike else named.get("version", incident.version)
    stream = Segment(
        named.get("model", incident.model),
        version if version not in {ANY, OTHER} else "",
        leave_out_rankers(place),
    )
    return find_facts(
        store, project, configuration, stream, since=to_micros(incident.began), until=now
    )


def find_facts_of_trace(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    trace: Trace,
    spans: tuple[Span, Span],
    *,
    now: int,
) -> tuple[dict[str, Any], ...]:
    """Return what changed in the lists of the first cause of a trace, or of all of its span."""
    before, after = spans
    place = trace.causes[0].slice if trace.causes else ()
    named = {"model": after.model, "version": after.version, **dict(place)}
    stream = Segment(named["model"] or "", named["version"] or "", leave_out_rankers(place))
    since, until = read_span(after.since, after.until)
    if since is None:
        since = _find_first(store.versions(project), stream)
    if after.is_set or since is None:
        return ()
    # What tells two versions apart changed when the second one came.
    is_version = not before.is_set and before.version is not None
    is_other = is_version and before.version != stream.version
    near = math.inf if is_other else -math.inf if is_version else NEAR
    end = now if until is None or is_other else until
    return find_facts(store, project, configuration, stream, since=since, until=end, near=near)


def _find_first(versions: Iterable[Version], stream: Segment) -> int | None:
    """Return when a version was first shown; `None` if none is named, or it isn't known."""
    return min(
        (
            one.first
            for one in versions
            if one.environment == PRODUCTION
            and stream.version == one.version
            and stream.model in {"", one.model}
        ),
        default=None,
    )


def _find_earlier(versions: Iterable[Version], stream: Segment, moment: int) -> str:
    """Return the only version that was shown on the days that lists are compared with."""
    since = moment - moment % DAY - REFERENCE_DAYS * DAY
    shown = [
        one.version
        for one in versions
        if one.environment == PRODUCTION
        and stream.model in {"", one.model}
        and one.first < moment
        and one.last >= since
    ]
    is_one = len(shown) == 1 and shown[0] not in {stream.version, OTHER}
    return shown[0] if is_one and stream.version else ""


def _compare(
    cells: Cells, stream: Segment, moment: int, until: int, *, calendar: Calendar, is_exact: bool
) -> list[Fact] | None:
    """Compare the hours since a moment with those before; `None` if they aren't comparable."""
    wide = stream._replace(version="")

    def choose(segment: Segment) -> list[Segment]:
        if stream.model not in {"", segment.model}:
            return []
        return list({wide, stream}) if stream.version in {"", segment.version} else [wide]

    since = moment - moment % DAY - REACH * DAY
    last = min(until, moment + max(LENGTHS) * HOUR)
    hours = cells.add_up(since, -(-last // DAY) * DAY, choose)
    places = {segment: at for at, segment in enumerate(hours.segments)}
    if stream not in places:
        return None
    first = (moment - since) // HOUR
    # A version that is new is compared with its model.
    own = np.flatnonzero(hours.sums[places[stream], :first, 0].any(axis=-1)) // HOURS
    with_itself = len(np.unique(own)) >= FEWEST_DAYS
    here, base = (
        get_rows(hours.sums[[places[one]]]) for one in (stream, stream if with_itself else wide)
    )
    special = np.zeros(here.total.shape[1], dtype=np.bool_)
    # For some days after a period, lists are compared with those that it had.
    for one in calendar.between(since - REFERENCE_DAYS * DAY, last):
        begin, end = one.since, one.until + REFERENCE_DAYS * DAY
        special[max(begin - since, 0) // HOUR : max(end - since, 0) // HOUR] = True
    over = (until - moment) // HOUR
    changes = find_changes(here, base, first, over, special, is_exact=is_exact)
    if changes is None:
        return None
    return [
        Fact(
            segment=stream,
            began=since + each.pop("began") * HOUR,
            found=since + each.pop("found") * HOUR,
            **each,
        )
        for each in changes
    ]


def find_changes(
    here: Sums,
    base: Sums,
    moment: int,
    over: int,
    special: NDArray[np.bool_] | None = None,
    *,
    is_exact: bool,
) -> list[dict[str, Any]] | None:
    """Find the signals that changed at an hour, those with the largest change first.

    Args:
        here: The sums of hours of a stream from a midnight on, with a row for each of `SIGNALS`.
        base: Those that are compared with.
        moment: How many hours are before the change.
        over: How many hours are known after it.
        special: The hours that are unlike others, and are left out.
        is_exact: Whether it changed in this hour, or a day or two around it.

    Returns:
        `None` if nothing is comparable.
    """
    rest = HOURS - moment % HOURS
    # What lists are compared with has the change itself on the day after it.
    fresh = min(rest if is_exact and rest >= LEAST_REST else HOURS, over)
    spans = np.array([*dict.fromkeys((*LENGTHS[:1], fresh, *LENGTHS[1:]))])
    ends = np.unique([fresh, *LENGTHS] if is_exact else [0, 24, 48, fresh, *LENGTHS])
    ends = ends[ends <= over]
    is_used = (ends[:, None] == spans) | (not is_exact)
    left_out = np.arange(here.total.shape[1]) >= moment - (0 if is_exact else HOURS)
    if special is not None:
        (passed,) = accumulate(special[None])
        stops = moment + ends[:, None]
        is_used &= passed[stops] == passed[np.maximum(stops - spans, 0)]
        left_out |= special
    is_fresh = is_used & (spans <= (fresh if is_exact else HOURS))
    may_tell = np.array([is_fresh if one.name in CHANGES else is_used for one in SIGNALS])
    judgment, evidence = weigh(
        add_up(here),
        moment + ends,
        SIGNALS,
        spans=spans.tolist(),
        before=add_up(Sums(*(each * ~left_out for each in base))),
        skipped=accumulate(np.tile(left_out, (len(SIGNALS), 1))),
        reach=REACH,
    )
    evidence = evidence * may_tell
    is_known = may_tell & (judgment.rankings > 0) & (judgment.days >= FEWEST_DAYS)
    known = is_known.any(axis=(1, 2))
    if not known.any():
        return None
    needed = math.log(known.sum() / CHANCE)
    found = []
    for at in np.flatnonzero(evidence.max(axis=(1, 2)) >= needed).tolist():
        change = np.abs(np.nan_to_num(judgment.value[at] - judgment.usual[at]))
        # Of hours that tell nearly as much, those that are most of all after the change.
        telling = change * (evidence[at] >= max(evidence[at].max() / 2, needed))
        end, length = np.unravel_index(np.argmax(telling), telling.shape)
        stop = moment + int(ends[end])
        told: dict[str, Any] = {
            name: float(numbers[at, end, length])
            for name, numbers in (
                ("before", judgment.usual),
                ("after", judgment.value),
                ("spread", judgment.spread),
                ("evidence", evidence),
            )
        }
        told |= {"signal": SIGNALS[at].name, "rankings": int(judgment.rankings[at, end, length])}
        told |= {"began": stop - int(spans[length]), "found": stop}
        found.append((-telling.max() / SIGNALS[at].least, at, told))
    return [told for *_, told in sorted(found, key=lambda one: one[:2])]
