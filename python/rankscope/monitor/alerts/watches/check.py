"""Checks whether the data of a project arrive as usual, one hour after another.

What is found depends only on the stored events and on the hour, so that a replay finds the same.
"""

from __future__ import annotations

from hashlib import sha256

from rankscope.monitor.alerts.incidents.finding import Finding
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.alerts.watches import attributes, labels, silence
from rankscope.monitor.alerts.watches.counts import TOTAL, Place
from rankscope.monitor.alerts.watches.progress import KEPT, WatchProgress
from rankscope.monitor.alerts.watches.traffic import ACCEPTED_AFTER, OF_LABELS, Traffic
from rankscope.monitor.alerts.watches.usual import FEWEST_DAYS
from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.detect.state import State
    from rankscope.monitor.alerts.incidents.finding import Kind, StreamKey, Verdict
    from rankscope.monitor.alerts.watches.counts import Counts
    from rankscope.monitor.alerts.watches.labels import Rate
    from rankscope.monitor.alerts.watches.progress import RateDay, Trouble
    from rankscope.monitor.definition.configuration import Configuration

NAME = "data"
"""The name of the rule that every project gets."""
FORGOTTEN_AFTER = 60 * DAY
"""After so long without any ranking, nothing is known any more and nothing is reported."""


def default_rule() -> Rule:
    """Return the rule that watches the data of a project unless somebody changes it."""
    return Rule(name=NAME, kind="data")


def check_data(reader: Counts, rule: Rule, progress: str, moment: int) -> tuple[list[Finding], str]:
    """Check the data of a project as of the end of an hour.

    Args:
        reader: Reads how many rankings and labels there are.
        rule: The rule, of the kind `data`.
        progress: What the check of the hour before returned; empty at first.
        moment: The end of the hour, in microseconds since 1970 in UTC.

    Returns:
        What is not as usual, what is as usual again, and what cannot be said yet; and what is
        to be remembered for the next hour.
    """
    before, findings = _begin(reader, rule, progress, moment)
    known = {one.key: one for one in before.troubles}
    watch = _Watch(reader, rule, before, moment)
    watch.run()
    after = watch.progress
    found = {one.key for one in after.troubles}
    findings += [
        _recover(one, is_accepted=key in watch.accepted)
        for key, one in known.items()
        if key not in found
    ]
    findings += [_report(one) for one in after.troubles]
    if after.waits:
        reason = f"The data are watched from {describe_time(after.waits)} on, after "
        findings.append(
            Finding(
                kind="volume",
                verdict="unknown",
                reason=f"{reason}{FEWEST_DAYS} days to compare with.",
            )
        )
    return findings, after.to_json()


def restart_stream(progress: str, key: StreamKey, moment: int) -> str:
    """Take what comes from a moment on for usual, as when a person has resolved an incident.

    Args:
        progress: What was remembered.
        key: The kind, model, version and slice of the findings.
        moment: The time, in microseconds since 1970 in UTC.
    """
    if not progress:
        return progress
    kind, model, version, where = key
    since = -(-moment // HOUR) * HOUR
    known = WatchProgress.from_json(progress)
    return known.restart(kind, Place(model, version, where), since).to_json()


def summarize(progress: str) -> tuple[State, str]:
    """Return the state of the rule apart from its incidents, and the reason."""
    if not progress:
        return "INSUFFICIENT", "no hour is final yet"
    known = WatchProgress.from_json(progress)
    if known.waits:
        return "INSUFFICIENT", (
            f"watched from {describe_time(known.waits)} on, after {FEWEST_DAYS} days to compare "
            "with"
        )
    if not known.watched:
        return "NO_DATA", f"no rankings in the last {FORGOTTEN_AFTER // DAY} days"
    if known.troubles:
        return "ALERT", " ".join(one.reason for one in known.troubles[:3])
    are = "stream arrives" if known.watched == 1 else "streams arrive"
    return "OK", f"{known.watched} {are} as usual"


class _Watch:
    """The check of one hour."""

    def __init__(self, reader: Counts, rule: Rule, progress: WatchProgress, moment: int) -> None:
        self.reader = reader
        self.rule = rule
        self.progress = replace(progress, moment=moment).forget(moment - KEPT)
        self.moment = moment
        self.accepted: set[tuple[Kind, Place]] = set()

    def run(self) -> None:
        """Look at everything."""
        first, last = self.reader.first, self.reader.last
        if first is None or last is None or first >= self.moment:
            return
        if last + FORGOTTEN_AFTER < self.moment and not self.progress.troubles:
            # Nothing has come for so long that nothing is missed: a day takes no time.
            day = max(self.progress.day, (self.moment - self.reader.window) // DAY * DAY)
            self.progress = replace(self.progress, day=day, watched=0, waits=0)
            return
        self._accept()
        self.traffic = Traffic(self.reader, self.rule, self.progress, self.moment)
        self._watch_traffic()
        if not self.progress.waits:
            self._watch_label_silence()
        self._watch_days()

    def _accept(self) -> None:
        """Take for usual what has lasted long enough."""
        for trouble in self.progress.troubles:
            if self.moment - trouble.began >= ACCEPTED_AFTER:
                self.progress = self.progress.restart(trouble.kind, trouble.place, trouble.began)
                self.accepted.add(trouble.key)

    def _watch_traffic(self) -> None:
        traffic = self.traffic
        usual = traffic.usual()
        if usual is None or usual.daily <= 0:
            waits = self._find_end_of_wait()
            self.progress = replace(self.progress, waits=waits, watched=0)
            return
        models = silence.find_models(traffic)
        versions = silence.find_versions(traffic)
        values = attributes.find_values(traffic)
        names = [name for name, _ in self.reader.slicing.values]
        # Each value may fall and rise; an attribute may be missing.
        traffic.streams = 1 + len(models) + len(versions) + 2 * len(values) + len(names)
        watched = 1 + len(models) + len(versions) + len(values)
        self.progress = replace(self.progress, waits=0, watched=watched)
        self._advance()
        traffic.progress = self.progress
        total = self._watch_total()
        if self._find(TOTAL, "freshness") or (total is not None and total.kind == "freshness"):
            self._add(total)
            return
        for place in models:
            if not self._is_known(place):
                self._add(silence.watch_model(traffic, place))
        of_models = [one.place for one in self.progress.troubles if one.place in models]
        if total is not None and not silence.explains(traffic, total, of_models):
            self._add(total)
        for place in versions:
            if not (self._is_known(place) or self._is_known(Place(place.model))):
                self._add(silence.watch_version(traffic, place))
        self._watch_values(values, names)

    def _find_end_of_wait(self) -> int:
        """Return from when on there is enough to compare with, 0 where nothing more comes."""
        began = [one.since for one in self.progress.restarts if one.place == TOTAL]
        first = -(-max([self.traffic.find_first(), *began]) // DAY) * DAY
        waits = first + FEWEST_DAYS * DAY
        return 0 if self.progress.troubles or waits <= self.moment else waits

    def _advance(self) -> None:
        """Take the newest hour of what was not as usual."""
        traffic = self.traffic
        expected = float(traffic.expected(TOTAL, 1)[0])
        here = float(traffic.recent()[-1])
        scale = min(1.0, here / expected) if expected > 0 else 1.0
        for trouble in self.progress.troubles:
            if trouble.kind in OF_LABELS:
                continue
            if attributes.is_new(trouble):
                after = None if attributes.is_new_over(traffic, trouble) else trouble
            elif attributes.is_missing(trouble.place):
                after = attributes.advance_missing(traffic, trouble)
            else:
                of = 1.0 if trouble.place == TOTAL else scale
                after = traffic.advance(trouble, scale=of)
            if after is None:
                self.progress = self.progress.end(trouble, self.moment)
                continue
            after = (
                attributes.describe(traffic, after)
                if trouble.place.slice
                else silence.describe(after)
            )
            self.progress = self.progress.add(after)

    def _watch_total(self) -> Trouble | None:
        if self._is_known(TOTAL):
            return None
        return silence.watch_total(self.traffic)

    def _watch_values(self, values: list[Place], names: list[str]) -> None:
        traffic = self.traffic
        lacking = set()
        for attribute in names:
            place = Place(slice=((attribute, MISSING),))
            if not self._is_known(place):
                self._add(attributes.watch_missing(traffic, attribute))
            if self._is_known(place):
                lacking.add(attribute)
        shown = [place for place in values if place.slice[0][0] not in lacking]
        busy = {one.place for one in self.progress.troubles if one.place.slice}
        for trouble in attributes.watch_new_values(traffic, busy):
            if trouble.place.slice[0][0] not in lacking:
                self._add(trouble)
        for place in shown:
            if not self._is_known(place):
                self._add(attributes.watch_value(traffic, place))

    def _watch_label_silence(self) -> None:
        known = self.progress.find("labels", TOTAL)
        if known is None:
            self._add(labels.watch_silence(self.traffic, self.progress))
        elif labels.is_silent(known) and labels.is_silence_over(self.traffic, known):
            self.progress = self.progress.end(known, self.moment)

    def _watch_days(self) -> None:
        """Look at the days that have become final."""
        window = self.reader.window
        while self.progress.day + DAY + window <= self.moment:
            day = self.progress.day
            today = labels.count_day(self.reader, day)
            # Of days that were final before the first check, the newest is looked at.
            if day + 2 * DAY + window > self.progress.first:
                self._judge_day(today)
            rates = (*self.progress.rates, today)
            self.progress = replace(self.progress, rates=rates, day=day + DAY)

    def _judge_day(self, today: RateDay) -> None:
        places = labels.find_places(self.progress)
        if not self._had_silence(today.day):
            rates = {
                place: labels.watch_labels(self.rule, self.progress, place, today)
                for place in places
            }
            self._conclude("labels", rates, today)
        lost = {one.place for one in self.progress.troubles if one.kind == "labels"}
        relevance = {
            place: None
            if lost & {place, TOTAL}
            else labels.watch_relevance(self.rule, self.progress, place, today)
            for place in places
        }
        self._conclude("relevance", relevance, today)

    def _conclude(
        self, kind: Kind, rates: dict[Place, tuple[Rate, ...] | None], today: RateDay
    ) -> None:
        """Report all models together or some of them."""
        bad = [place for place, found in rates.items() if found]
        judged = [place for place, found in rates.items() if found is not None and place != TOTAL]
        models = [place for place in bad if place != TOTAL]
        is_common = TOTAL in bad and len(models) == len(judged)
        for place, found in rates.items():
            known = self.progress.find(kind, place)
            if known is not None and (labels.is_silent(known) or found is None):
                continue
            if not found:
                if known is not None:
                    self.progress = self.progress.end(known, today.day)
                continue
            is_explained = place == TOTAL and models and not is_common
            if known is None and (is_explained or (place != TOTAL and is_common)):
                continue
            self._add(
                labels.make_trouble(
                    kind, place, found, day=today.day, now=self.moment, before=known
                )
            )

    def _had_silence(self, day: int) -> bool:
        """Return whether labels did not arrive on a day for some time."""
        spans = [(one.since, one.until) for one in self.progress.spans if one.kind == "labels"]
        known = self.progress.find("labels", TOTAL)
        if known is not None and labels.is_silent(known):
            spans.append((known.began, self.moment))
        return any(since < day + DAY and until > day for since, until in spans)

    def _find(self, place: Place, kind: Kind) -> Trouble | None:
        return self.progress.find(kind, place)

    def _is_known(self, place: Place) -> bool:
        """Return whether something is reported of the rankings of a place already."""
        return any(
            one.place == place and one.kind not in OF_LABELS for one in self.progress.troubles
        )

    def _add(self, trouble: Trouble | None) -> None:
        """Remember what is not as usual, unless it is not watched."""
        if trouble is None or not is_watched(self.rule, trouble):
            return
        self.progress = self.progress.add(trouble)


def is_watched(rule: Rule, trouble: Trouble) -> bool:
    """Return whether a rule reports something."""
    is_kind = not rule.watches or trouble.kind in rule.watches
    return is_kind and (rule.model is None or rule.model == trouble.place.model)


def _begin(
    reader: Counts, rule: Rule, text: str, moment: int
) -> tuple[WatchProgress, list[Finding]]:
    """Read what is remembered, or begin anew where something else is to be watched."""
    basis = _name_basis(reader.configuration)
    gone: list[Finding] = []
    if text:
        known = WatchProgress.from_json(text)
        off = [one for one in known.troubles if known.basis != basis or not is_watched(rule, one)]
        gone = [_conclude(one, "good", "This is no longer watched in this way.") for one in off]
        if known.basis == basis:
            kept = tuple(one for one in known.troubles if one not in off)
            return replace(known, troubles=kept), gone
    window = reader.window
    day = (moment - window) // DAY * DAY - labels.DAYS * DAY
    if reader.first is not None:
        day = max(day, -(-reader.first // DAY) * DAY)
    return WatchProgress(basis=basis, first=moment, moment=moment, day=day), gone


def _name_basis(configuration: Configuration) -> str:
    """Return a hash of what is counted."""
    return sha256(configuration.digest).hexdigest()[:16]


def _report(trouble: Trouble) -> Finding:
    return _conclude(trouble, "bad", trouble.reason)


def _recover(trouble: Trouble, *, is_accepted: bool) -> Finding:
    if is_accepted:
        reason = f"This has lasted for {ACCEPTED_AFTER // DAY} days and counts as usual now."
    elif attributes.is_new(trouble):
        reason = "The value is no longer new."
    else:
        reason = "The data arrive as usual again."
    return _conclude(trouble, "good", reason)


def _conclude(trouble: Trouble, verdict: Verdict, reason: str) -> Finding:
    place = trouble.place
    return Finding(
        kind=trouble.kind,
        model=place.model,
        version=place.version,
        slice=place.slice,
        verdict=verdict,
        began=to_datetime(trouble.began),
        reason=reason,
        evidence=trouble.evidence,
    )
