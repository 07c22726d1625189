"""Checks whether the data of a project arrive as usual, one hour after another.

What is found depends only on the stored events and on the hour, so that a replay finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeAlias

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.rules.data import labels, watches
from rankscope.monitor.rules.data.counts import TOTAL, Counts, Segment
from rankscope.monitor.rules.data.progress import KEPT, Anomaly, DataProgress, RateDay
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.data.traffic import (
    ACCEPTED_AFTER,
    LEAST_DAILY,
    OF_LABELS,
    Traffic,
    place_missing,
)
from rankscope.monitor.rules.data.usual import FEWEST_DAYS
from rankscope.monitor.rules.data.words import describe
from rankscope.monitor.rules.state import Finding, Kind, RuleVerdict, Verdict

Judged: TypeAlias = Mapping[Segment, Sequence[Any] | None]
Make: TypeAlias = Callable[[Segment, Sequence[Any], Anomaly | None], Anomaly]
DayWatch: TypeAlias = Callable[[DataRule, DataProgress, Segment, RateDay], Sequence[Any] | None]


def check_data(
    reader: Counts, rule: DataRule, progress: DataProgress, moment: int
) -> tuple[list[Finding], DataProgress]:
    """Check the data of a project as of the end of an hour."""
    before, findings = _begin(reader, rule, progress, moment)
    known = {anomaly.key: anomaly for anomaly in before.anomalies}
    check = HourCheck(reader, rule, before, moment)
    check.run()
    after = check.progress
    found = {anomaly.key for anomaly in after.anomalies}
    findings += [
        _recover(one, is_accepted=key in check.accepted)
        for key, one in known.items()
        if key not in found
    ]
    findings += [_conclude(anomaly, "bad", anomaly.reason) for anomaly in after.anomalies]
    if after.waits:
        reason = f"The data are watched from {describe_time(after.waits)} on, after "
        findings.append(
            Finding(
                kind="volume",
                verdict="unknown",
                reason=f"{reason}{FEWEST_DAYS} days to compare with.",
            )
        )
    return findings, after


def summarize(known: DataProgress) -> RuleVerdict:
    """Return the state of the rule apart from its incidents, and the reason."""
    if not known.counted:
        return RuleVerdict("INSUFFICIENT", "no hour is final yet")
    if known.anomalies:
        reasons = [anomaly.reason for anomaly in known.anomalies[:3]]
        return RuleVerdict("ALERT", " ".join(reasons))
    if known.waits:
        since = describe_time(known.waits)
        told = f"watched from {since} on, after {FEWEST_DAYS} days to compare with"
        return RuleVerdict("INSUFFICIENT", told)
    if not known.watched:
        return RuleVerdict("NO_DATA", f"no rankings in the last {FORGOTTEN_AFTER // DAY} days")
    are = "stream arrives" if known.watched == 1 else "streams arrive"
    return RuleVerdict("OK", f"{known.watched} {are} as usual")


def _begin(
    reader: Counts, rule: DataRule, known: DataProgress, moment: int
) -> tuple[DataProgress, list[Finding]]:
    """Read what is remembered, or begin anew where something else is to be watched."""
    counted = sha256(reader.configuration.digest).hexdigest()[:16]
    off = [
        anomaly
        for anomaly in known.anomalies
        if known.counted != counted or not is_watched(rule, anomaly)
    ]
    gone = [_conclude(one, "good", "This is no longer watched in this way.") for one in off]
    if known.counted == counted:
        kept = tuple(anomaly for anomaly in known.anomalies if anomaly not in off)
        return replace(known, anomalies=kept), gone
    day = (moment - reader.window) // DAY * DAY - labels.DAYS * DAY
    if reader.first is not None:
        day = max(day, -(-reader.first // DAY) * DAY)
    fresh = DataProgress(basis=known.basis, first=known.first, following=known.following)
    return replace(fresh, counted=counted, since=moment, day=day), gone


def _recover(anomaly: Anomaly, *, is_accepted: bool) -> Finding:
    if is_accepted:
        reason = f"This has lasted for {ACCEPTED_AFTER // DAY} days and counts as usual now."
    elif anomaly.is_new:
        reason = "The value is no longer new."
    else:
        reason = "The data arrive as usual again."
    return _conclude(anomaly, "good", reason)


PAIRS = (("expected", "count"), ("usual", "share"), ("expected", "value"))
"""What was usual before, and what is found instead, as evidence calls them."""


def _conclude(anomaly: Anomaly, verdict: Verdict, reason: str) -> Finding:
    segment, numbers = anomaly.segment, anomaly.evidence
    pairs = ((numbers.get(before), numbers.get(after)) for before, after in PAIRS)
    before, after = next((pair for pair in pairs if None not in pair), (None, None))
    return Finding(
        kind=anomaly.kind,
        model=segment.model,
        version=segment.version,
        slice=segment.slice,
        verdict=verdict,
        began=to_datetime(anomaly.began),
        before=before,
        after=after,
        reason=reason,
        evidence=numbers,
    )


FORGOTTEN_AFTER = 60 * DAY
"""After so long without any ranking, nothing is known any more and nothing is reported."""


class HourCheck:
    """The check of one hour.

    Args:
        reader: Reads how many rankings and labels there are.
        rule: The rule.
        progress: What is remembered.
        moment: The end of the hour, in microseconds since 1970 in UTC.
    """

    def __init__(self, reader: Counts, rule: DataRule, progress: DataProgress, moment: int) -> None:
        self.reader = reader
        self.rule = rule
        self.progress = replace(progress, following=moment).forget(moment - KEPT)
        self.moment = moment
        self.accepted: set[tuple[Kind, Segment]] = set()

    def run(self) -> None:
        """Look at everything."""
        first, last = self.reader.first, self.reader.last
        if first is None or last is None or first >= self.moment:
            return
        if last + FORGOTTEN_AFTER < self.moment and not self.progress.anomalies:
            # Nothing has come for so long that nothing is missed: a day takes no time.
            day = max(self.progress.day, (self.moment - self.reader.window) // DAY * DAY)
            self.progress = replace(self.progress, day=day, watched=0, waits=0)
            return
        self._accept()
        self.traffic = Traffic(self.reader, self.rule, self.progress, self.moment)
        _watch_names(self)  # needs no history to compare with
        if self._begin():
            for watch in HOURLY:
                watch(self)
        self._judge_days()

    def _accept(self) -> None:
        """Take for usual what has lasted long enough."""
        for anomaly in self.progress.anomalies:
            if self.moment - anomaly.began >= ACCEPTED_AFTER:
                self.progress = self.progress.accept(anomaly.kind, anomaly.segment, anomaly.began)
                self.accepted.add(anomaly.key)

    def _begin(self) -> bool:
        """Find what is watched, and take the newest hour of what was not as usual."""
        traffic = self.traffic
        usual = traffic.usual()
        if usual is None or usual.daily <= 0:
            waits = self._find_end_of_wait()
            self.progress = replace(self.progress, waits=waits, watched=0)
            return False
        self.models = watches.find_models(traffic)
        self.versions = watches.find_versions(traffic)
        self.values = watches.find_values(traffic)
        models, values = len(self.models) + len(self.versions), len(self.values)
        # Each value may fall and rise; an attribute may be missing.
        traffic.streams = 1 + models + 2 * values + len(self.reader.slicing.values)
        self.progress = replace(self.progress, waits=0, watched=1 + models + values)
        self._advance()
        return True

    def _find_end_of_wait(self) -> int:
        """Return from when on there is enough to compare with, 0 where nothing more comes."""
        restart = self.progress.find_restart(lambda _, segment: segment == TOTAL)
        first = -(-max(self.traffic.find_first(), restart) // DAY) * DAY
        waits = first + FEWEST_DAYS * DAY
        return 0 if self.progress.anomalies or waits <= self.moment else waits

    def _advance(self) -> None:
        """Take the newest hour of what was not as usual."""
        for anomaly in self.progress.anomalies:
            if anomaly.kind not in OF_LABELS:
                after = self._advance_one(anomaly)
                if after is None:
                    self.end(anomaly)
                else:
                    self._keep(after)

    def _advance_one(self, anomaly: Anomaly) -> Anomaly | None:
        segment, traffic = anomaly.segment, self.traffic
        if anomaly.is_new:
            return None if watches.is_new_over(traffic, anomaly) else anomaly
        if segment.is_missing:
            return watches.advance_missing(traffic, anomaly)
        beside = traffic if segment.slice else self.beside(segment)
        of = 1.0 if segment == TOTAL else min(1.0, float(beside.scale(segment)[0]))
        if anomaly.is_silence:
            # As much may come back as came before it, where that was little.
            of *= traffic.find_level(segment, anomaly.began)
        return beside.advance(anomaly, scale=of)

    def beside(self, segment: Segment = TOTAL) -> Traffic:
        """Return the traffic without the models that are not as usual, but with one of them.

        What they lack is known, and must not hide that others lack something, too.
        """
        known = {
            anomaly.segment
            for anomaly in self.progress.anomalies
            if anomaly.segment in self.models and anomaly.kind not in OF_LABELS
        }
        return self.traffic.without(known - {segment})

    @property
    def is_silent(self) -> bool:
        """Whether nothing arrives and that is known, so that parts of it tell nothing."""
        return self.find("freshness", TOTAL) is not None and not self.traffic.recent()[-1]

    def is_told_by_total(self, beside: Traffic, segment: Segment) -> bool:
        """Return whether a model is all that is left: what it lacks, the total lacks."""
        if self.is_silent or self.rule.model is not None:
            return self.is_silent
        mine, of_all = beside.usual(segment), beside.usual()
        return mine is not None and of_all is not None and of_all.daily - mine.daily < LEAST_DAILY

    def find(self, kind: Kind, segment: Segment) -> Anomaly | None:
        """Find what is reported of a stream."""
        return self.progress.find(kind, segment)

    def add(self, anomaly: Anomaly | None) -> None:
        """Remember what is not as usual, unless it is not watched."""
        if anomaly is not None and is_watched(self.rule, anomaly):
            self._keep(anomaly)

    def add_change(
        self,
        segment: Segment,
        kind: Kind,
        watch: Callable[[Traffic, Segment], Anomaly | None],
        traffic: Traffic,
    ) -> None:
        """Look for a change of what comes of a segment; then it is no silence any more."""
        if self.find("volume", segment) is not None:
            return
        silent = self.find(kind, segment)
        if silent is not None and (silent.found == self.moment or not silent.is_silence):
            return
        found = watch(traffic, segment)
        self.add(found)
        if found is not None and silent is not None:
            self.end(silent)

    def _keep(self, anomaly: Anomaly) -> None:
        if anomaly.kind not in OF_LABELS:
            anomaly = describe(self.traffic, anomaly)
        self.progress = self.traffic.progress = self.progress.add(anomaly)

    def end(self, anomaly: Anomaly, until: int | None = None) -> None:
        """Take an anomaly for over."""
        over = self.moment if until is None else until
        self.progress = self.traffic.progress = self.progress.end(anomaly, over)

    def _judge_days(self) -> None:
        """Look at the days that have become final."""
        window = self.reader.window
        while self.progress.day + DAY + window <= self.moment:
            day = self.progress.day
            if self.reader.configuration.calendar.find(day) is not None:
                self.progress = replace(self.progress, day=day + DAY)
                continue
            self.today = labels.count_day(self.reader, day)
            # Of days that were final before the first check, the newest is looked at.
            if day + 2 * DAY + window > self.progress.since:
                self.segments = labels.find_segments(self.progress)
                if not self._had_silence():
                    for kind, watch in DAILY.items():
                        self._judge_day(kind, watch)
            rates = (*self.progress.rates, self.today)
            self.progress = replace(self.progress, rates=rates, day=day + DAY)

    def _judge_day(self, kind: Kind, watch: DayWatch) -> None:

        def make(segment: Segment, found: Sequence[Any], known: Anomaly | None) -> Anomaly:
            day = self.today.day
            return labels.make_anomaly(kind, segment, found, day=day, now=self.moment, before=known)

        judged = {
            segment: watch(self.rule, self.progress, segment, self.today)
            for segment in self.segments
        }
        self.report(kind, judged, make, until=self.today.day)

    def report(self, kind: Kind, judged: Judged, make: Make, *, until: int) -> None:
        """Report all models together or some of them, and what is over."""
        bad = [segment for segment, found in judged.items() if found]
        known_of = [
            segment for segment, found in judged.items() if found is not None and segment != TOTAL
        ]
        models = [segment for segment in bad if segment != TOTAL]
        is_common = TOTAL in bad and len(models) == len(known_of)
        for segment, found in judged.items():
            known = self.find(kind, segment)
            if found is None:
                continue
            if not found:
                if known is not None:
                    self.end(known, until)
                continue
            is_explained = segment == TOTAL and models and not is_common
            if known is None and (is_explained or (segment != TOTAL and is_common)):
                continue
            self.add(make(segment, found, known))

    def _had_silence(self) -> bool:
        """Return whether labels did not arrive on the day for some time."""
        day = self.today.day
        silent = self.progress.list_unusual(lambda kind, _: kind == "label_freshness", self.moment)
        return any(since < day + DAY and until > day for since, until in silent)


def is_watched(rule: DataRule, anomaly: Anomaly) -> bool:
    """Return whether a rule reports something."""
    is_kind = not rule.watches or anomaly.kind in rule.watches
    return is_kind and (rule.model is None or rule.model == anomaly.segment.model)


def _watch_silence(check: HourCheck) -> None:
    if check.find("freshness", TOTAL) is None:
        rest = check.beside()
        check.add(watches.watch_silence(check.traffic if rest.usual() is None else rest))


def _watch_models(check: HourCheck) -> None:
    for segment in check.models:
        beside = check.beside(segment)
        if check.find("versions", segment) is None and not check.is_told_by_total(beside, segment):
            check.add(watches.watch_model(beside, segment))


def _watch_model_volumes(check: HourCheck) -> None:
    for segment in check.models:
        beside = check.beside(segment)
        if not check.is_told_by_total(beside, segment):
            check.add_change(segment, "versions", watches.watch_model_volume, beside)


def _watch_volume(check: HourCheck) -> None:
    check.add_change(TOTAL, "freshness", watches.watch_fall, check.beside())
    # Where a model has stopped, the others have more: only what all have together has risen.
    check.add_change(TOTAL, "freshness", watches.watch_rise, check.traffic)


def _watch_versions(check: HourCheck) -> None:
    for segment in check.versions:
        is_gone = check.find("versions", Segment(segment.model)) is not None
        if check.find("versions", segment) is None and not (is_gone or check.is_silent):
            check.add(watches.watch_version(check.traffic, segment))


def _watch_missing(check: HourCheck) -> None:
    for attribute, _ in check.reader.slicing.values:
        if check.find("attributes", place_missing(attribute)) is None:
            check.add(watches.watch_missing(check.traffic, attribute))


def _watch_new_values(check: HourCheck) -> None:
    if check.is_silent:
        return
    busy = {one.segment for one in check.progress.anomalies if one.segment.slice}
    for anomaly in watches.watch_new_values(check.traffic, busy):
        check.add(anomaly)


def _watch_values(check: HourCheck) -> None:
    for segment in check.values:
        if check.find("attributes", segment) is None and not check.is_silent:
            check.add(watches.watch_value(check.traffic, segment))


def _watch_value_volumes(check: HourCheck) -> None:
    for segment in check.values:
        if not check.is_silent:
            watch = watches.watch_value_volume
            check.add_change(segment, "attributes", watch, check.traffic)


def _watch_label_silence(check: HourCheck) -> None:
    known = check.find("label_freshness", TOTAL)
    if known is None:
        check.add(labels.watch_silence(check.traffic, check.progress))
    elif labels.is_silence_over(check.traffic, known):
        check.end(known)


def _watch_names(check: HourCheck) -> None:
    is_first = check.moment == check.progress.since
    if not watches.is_due(check.reader, check.moment, is_first=is_first):
        return
    found = {one.segment: one for one in watches.watch_names(check.reader, check.moment)}
    kept = {restart.segment for restart in check.progress.restarts if restart.kind == "names"}
    for known in check.progress.anomalies:
        if known.kind == "names" and known.segment not in found:
            check.end(known)
    for segment, anomaly in found.items():
        before = check.find("names", segment)
        if segment not in kept:
            began = anomaly.began if before is None else before.began
            check.add(replace(anomaly, began=began))


HOURLY = (
    _watch_silence,
    _watch_models,
    _watch_model_volumes,
    _watch_volume,
    _watch_versions,
    _watch_missing,
    _watch_new_values,
    _watch_values,
    _watch_value_volumes,
    _watch_label_silence,
)
"""What is looked for each hour, what explains most first."""
DAILY: Mapping[Kind, DayWatch] = {
    "labels": labels.watch_labels,
    "relevance": labels.watch_relevance,
}
"""What is looked for once a day is final, by the kind of what is found."""
