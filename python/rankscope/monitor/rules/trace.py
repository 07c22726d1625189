"""Rules of the kind `trace`: a trace each night finds a slice that fell and no rule watches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Self

from rankscope.errors import InputError, UsageError
from rankscope.monitor.ask.cause import explain_fall, find_baseline_span, leave_out_rankers, shorten
from rankscope.monitor.ask.trace import Span, trace_spans
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.plain import Stored
from rankscope.monitor.rules.drop.run import KIND as DROP
from rankscope.monitor.rules.rule import Rule, bad, check_measure
from rankscope.monitor.rules.run import Kind, Progress, RuleRun
from rankscope.monitor.rules.settings import FalseAlarms, Measure
from rankscope.monitor.rules.state import MOST_NAMED, Finding, RuleVerdict
from rankscope.output.text import format_value
from rankscope.records import record, replace
from rankscope.settings.interval import Interval
from rankscope.trace.compute import TraceChoices
from rankscope.trace.decomposition_result import name_slice

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.rules.run import Scene
    from rankscope.monitor.rules.state import StreamKey
    from rankscope.monitor.store.records import Version
    from rankscope.trace.result import Trace


LEAST_FALSE_ALARMS = 0.04
"""The least chance of a false alarm, which is one in 2,250 nights: the p-value that it asks for
needs twice as many reassignments for each of at most 20 models, and a trace draws 100,000."""


class TraceRule(Rule):
    """A search of all slices, every night; see `Rule`."""

    kind: Literal["trace"]
    measure: Measure
    false_alarms: FalseAlarms = 0.05

    @property
    def subject(self) -> str:
        """The measure that its incidents are about."""
        return self.measure

    @property
    def step(self) -> int:
        """How long a day is."""
        return DAY

    def check(self, configuration: Configuration) -> Self:
        """Check that the project measures what the rule needs, and return it with full names."""
        if self.false_alarms < LEAST_FALSE_ALARMS:
            raise bad(
                "false_alarms", f"at least {LEAST_FALSE_ALARMS} for a trace", self.false_alarms
            )
        measure = check_measure(self.measure, configuration)
        if len(name_columns(configuration.definition.only(measure))) < 2:
            raise bad("measure", "one whose losses add up to 1, such as nDCG@10", self.measure)
        return self.replace(measure=measure.name)

    def describe(self) -> str:
        """Describe the rule in a sentence."""
        models = "each model" if self.model is None else f"the model {self.model}"
        return (
            f"Traces {models} every night, and alerts when {self.measure} of a slice fell more "
            "than that of everything. The chance of a false alarm in a quarter is at most "
            f"{100 * self.false_alarms:g}%."
        )


DAYS = 7
"""The days that a night's trace looks at: fewer if they have too many rankings."""
MOST_RANKINGS = 100_000
"""The rankings of a window, at most."""
MOST_MODELS = 20
"""The models that are traced in a night, those with the most rankings first. With `MOST_RANKINGS`,
this bounds what a night costs."""
CLEAN_NIGHTS = 2
"""The nights in a row without a finding after which a slice counts as recovered."""
CHANGED = 1.5
"""A muted slice is reported again once it has fallen this many times as far. In the first nights, a
fall grows by itself, as more of the days that are looked at are after it."""


@record(frozen=True, slots=True, kw_only=True)
class SliceNight(Stored):
    """A slice that was found and has not recovered.

    Args:
        model: The model.
        slice: Pairs of an attribute and its value.
        fall: By how much its mean was lower in the last night that found it.
        reason: What was found then, in one sentence.
        clean: The nights in a row since.
        muted: By how much it had fallen when a person resolved its incident, or within a week of
            that; `None` if nobody did.
        nights: The nights since a person did.
    """

    model: str
    slice: Slice
    fall: float
    reason: str
    clean: int = 0
    muted: float | None = None
    nights: int = 0

    @property
    def key(self) -> StreamKey:
        """The stream of its incidents: the slice, whatever the version."""
        return "quality", self.model, "", self.slice

    def mute(self) -> SliceNight:
        """Return the slice muted: it opens no incident until it recovers or falls further."""
        return replace(self, muted=self.fall, nights=0)

    def keep_muted(self, fall: float) -> SliceNight | None:
        """Return the slice after a night that found it again, `None` if it has fallen further."""
        if self.muted is None:
            return None
        if self.nights < DAYS:
            fall = max(self.muted, fall)
            return replace(self, clean=0, muted=fall, nights=self.nights + 1)
        return replace(self, clean=0) if fall < CHANGED * self.muted else None


@record(frozen=True, slots=True)
class Night:
    """What a night has found.

    Args:
        findings: The slices that have fallen or recovered.
        slices: The slices that have not recovered, with those that are muted.
        models: How many models were compared.
        problem: Why others were not, in one sentence; empty if all were.
    """

    findings: tuple[Finding, ...]
    slices: tuple[SliceNight, ...]
    models: int
    problem: str = ""


def check_night(scene: Scene, rule: TraceRule, held: Collection[SliceNight], moment: int) -> Night:
    """Trace the last days of each model against its baseline, one model after another.

    A slice is named wrongly in one of `run_length` nights on average, over all models together.
    What changed everywhere is left to other rules, which know how much days differ.
    """
    versions = scene.shown
    models = _list_models(versions, rule, moment)
    level = 1 / (rule.run_length * max(len(models), 1))
    findings: list[Finding] = []
    # Without a comparison nothing is known, so what was bad stays so.
    kept = [one for one in held if one.model not in models]
    silent = []
    for model, version in models.items():
        of_model = [one for one in held if one.model == model]
        found = _trace(scene, rule, model, version, moment=moment, level=level)
        if found is None:
            silent.append(model)
            kept += of_model
            continue
        fallen = _judge(found, rule.measure, model, versions)
        findings += _compare(of_model, fallen, kept)
    names = ", ".join(name or "the model without a name" for name in silent)
    problem = f"nothing to compare with: {names}" if silent else ""
    return Night(tuple(findings), tuple(kept), len(models) - len(silent), problem)


def _trace(
    scene: Scene, rule: TraceRule, model: str, version: str, *, moment: int, level: float
) -> Trace | None:
    """Trace the last days of a model, or return `None` if there is nothing to compare with."""
    choice, versions = scene.configuration.baseline, scene.shown
    began = moment - DAYS * DAY
    has_version = choice is not None and choice.kind == "version"
    before = find_baseline_span(choice, versions, model, version, began)
    if before is None:
        # Before the first release, the weeks before are what there is to compare with.
        before = find_baseline_span(choice, versions, model, "", began)
        has_version = False
    if before is None:
        return None
    newest = version if has_version else None
    after = Span(to_datetime(began), to_datetime(moment), model or None, newest)
    before, after = (shorten(each, versions) for each in (before, after))
    try:
        return trace_spans(
            scene.store,
            scene.project,
            scene.configuration.definition,
            before,
            after,
            now=moment + scene.window,
            measure=rule.measure,
            choices=TraceChoices(
                direction="fall",
                is_apart=True,
                level=level,
                permutations=math.ceil(2 / level),
                interval=Interval(resamples=100),
            ),
            sample=MOST_RANKINGS,
            threads=scene.threads,
        )
    except (UsageError, InputError):
        return None


def _compare(
    held: Sequence[SliceNight],
    fallen: Sequence[tuple[SliceNight, Finding]],
    kept: list[SliceNight],
) -> list[Finding]:
    """Return what a night says about the slices of a model, and add those that are kept."""
    findings = []
    named: set[StreamKey] = set()
    for found, finding in fallen:
        # A part of a muted slice, and what contains it, is the same: a person knows about it.
        same = (one for one in held if _is_part(one.slice, found.slice))
        muted = next(filter(None, (one.keep_muted(found.fall) for one in same)), None)
        if muted is not None:
            kept += [muted] if muted.key not in named else []
            named.add(muted.key)
            continue
        kept.append(found)
        named.add(found.key)
        findings.append(finding)
    for one in held:
        if one.key in named:
            continue
        if one.clean + 1 < CLEAN_NIGHTS:
            kept.append(replace(one, clean=one.clean + 1, nights=one.nights + 1))
        elif one.muted is None:
            findings.append(_recover(one))
    return findings


def _is_part(one: Slice, other: Slice) -> bool:
    """Return whether one of two slices is a part of the other."""
    return set(one) <= set(other) or set(other) <= set(one)


def _list_models(versions: Sequence[Version], rule: TraceRule, moment: int) -> dict[str, str]:
    """Return the models that ranked in the last days, each with its newest version."""
    recent = [
        version
        for version in versions
        if version.environment == "production"
        and not version.folded
        and version.first < moment
        and version.last >= moment - DAYS * DAY
        and rule.model in {None, version.model}
    ]
    rankings: dict[str, int] = {}
    for one in recent:
        rankings[one.model] = rankings.get(one.model, 0) + one.rankings
    busiest = sorted(rankings, key=lambda model: (-rankings[model], model))[:MOST_MODELS]
    newest = {
        one.model: one.version for one in sorted(recent, key=lambda one: (one.first, one.version))
    }
    return {model: newest[model] for model in busiest}


def _judge(
    found: Trace, measure: str, model: str, versions: Sequence[Version]
) -> list[tuple[SliceNight, Finding]]:
    """Return the slices that fell, with a finding for each."""
    fallen: dict[Slice, tuple[SliceNight, Finding]] = {}
    for at, cause in enumerate(found.causes):
        told = explain_fall(found, at)
        place = leave_out_rankers(cause.slice)
        before, after = cause.change.means
        if told is None or not place or place in fallen or before is None or after is None:
            continue
        came = next((each.text for each in cause.arrivals if each.attribute == "version"), None)
        first = next(
            (
                version.first
                for version in versions
                if (version.model, version.version) == (model, came)
            ),
            None,
        )
        reason = (
            f"{name_slice(place)}: {measure} has fallen from {format_value(before)} to "
            f"{format_value(after)}, found by the nightly trace"
        )
        one = SliceNight(model=model, slice=place, fall=before - after, reason=reason)
        finding = Finding(
            kind="quality",
            model=model,
            slice=place,
            verdict="bad",
            began=None if first is None else to_datetime(first),
            before=before,
            after=after,
            reason=reason,
            evidence={
                "p_value": told.p_value,
                "level": found.search.level,
                "contribution": told.contribution,
                "share": told.share,
                "new_version": told.new_version,
                "before": told.before,
                "after": told.after,
            },
        )
        fallen[place] = one, finding
    return list(fallen.values())


def _recover(one: SliceNight) -> Finding:
    return Finding(
        kind="quality",
        model=one.model,
        slice=one.slice,
        verdict="good",
        reason=f"The nightly trace has not named it for {CLEAN_NIGHTS} nights.",
    )


@record(frozen=True, slots=True, kw_only=True)
class NightlyProgress(Progress):
    """The nights that a rule has traced.

    Args:
        basis: The hash of what is measured.
        first: When the first day begins, in microseconds since 1970 in UTC.
        following: When the day begins whose end is traced next.
        slices: The slices that were found and have not recovered.
        models: How many models were compared in the last night.
        problem: Why some were not, in one sentence; empty if all were.
    """

    basis: str
    first: int
    following: int
    slices: tuple[SliceNight, ...] = ()
    models: int = 0
    problem: str = ""

    @property
    def is_alert(self) -> bool:
        """Whether slices have fallen that nobody has resolved."""
        return any(each.muted is None for each in self.slices)

    def restart(
        self,
        keys: Collection[StreamKey],
        now: int,  # noqa: ARG002 - they stay muted whenever that was
        *,
        is_all: bool,
    ) -> Self:
        """Mute slices, or all of them, as a person has resolved their incidents."""
        slices = (each.mute() if is_all or each.key in keys else each for each in self.slices)
        return replace(self, slices=tuple(slices))


class NightlyRun(RuleRun):
    """A rule of kind `trace`: one trace of each model with each day that becomes final."""

    progress_type = NightlyProgress
    rule: TraceRule
    progress: NightlyProgress

    def take(self) -> tuple[Finding, ...]:
        """Trace the days up to the next one, and return what was found."""
        end = self.progress.following + DAY
        night = check_night(self._scene, self.rule, self.progress.slices, end)
        self.pass_period(
            following=end, slices=night.slices, models=night.models, problem=night.problem
        )
        self.has_ended_day = True
        return night.findings

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - nights alone change the state
        """Return the state of the rule, apart from its incidents."""
        return decide_night(self.progress)


def decide_night(progress: NightlyProgress) -> RuleVerdict:
    """Return the state of a rule from its nights: `ALERT` while slices are found and not muted."""
    until = describe_time(progress.following)
    if progress.following == progress.first:
        told = f"no day is final yet; the first begins at {describe_time(progress.first)}"
        return RuleVerdict("INSUFFICIENT", told)
    fallen = [one for one in progress.slices if one.muted is None]
    if fallen:
        return RuleVerdict("ALERT", "; ".join(one.reason for one in fallen[:MOST_NAMED]))
    if not progress.models:
        return RuleVerdict("INSUFFICIENT", progress.problem or f"no rankings by {until}")
    models = "1 model" if progress.models == 1 else f"{progress.models} models"
    told = f"no slice of {models} had fallen by {until}"
    return RuleVerdict("OK", f"{told}; {progress.problem}" if progress.problem else told)


KIND = Kind(
    record=TraceRule,
    words="any slice, traced every night",
    text="searches all slices every night for one that fell more than everything did",
    problems=DROP.problems,
    run=NightlyRun,
)
