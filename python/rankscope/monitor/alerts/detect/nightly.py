"""The nightly trace: finds a slice that fell although no rule watches it."""

from __future__ import annotations

import json
import math

from rankscope.errors import InputError, UsageError
from rankscope.monitor.alerts.incidents.finding import Finding
from rankscope.monitor.ask.cause import explain_fall, find_baseline_span
from rankscope.monitor.ask.trace import Span, trace_spans
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.stats.trace.arrivals import RANKERS
from rankscope.stats.trace.trace import TraceChoices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.alerts.incidents.finding import StreamKey
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import Version
    from rankscope.monitor.store.store import StoreReader
    from rankscope.results.trace import Trace

DAYS = 7
"""The days that a night's trace looks at."""
CLEAN_NIGHTS = 2
"""The nights in a row without a finding after which a slice counts as recovered."""
MOST_PERMUTATIONS = 20_000


class NightlyTrace:
    """Traces the last days of each model against its baseline.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        configuration: The configuration of the project.
        threads: The number of threads.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        configuration: Configuration,
        *,
        threads: int | None = None,
    ) -> None:
        self._store = store
        self._project = project
        self._configuration = configuration
        self._threads = threads
        self._versions: Sequence[Version] = store.versions(project)

    def check(self, rule: Rule, progress: str, moment: int) -> tuple[list[Finding], str]:
        """Return what a night finds, and the progress for the night after.

        A cause is named wrongly in one of `run_length` nights at most, over all models together.

        Args:
            rule: A rule of kind `trace`.
            progress: What the night before returned; empty at first.
            moment: The end of the last day that is looked at, in microseconds since 1970 in UTC.
                Its rankings are final.
        """
        clean: dict[StreamKey, int] = {_read_key(one): nights for one, nights in _read(progress)}
        models = _list_models(self._versions, rule, moment)
        findings = []
        for model, version in models.items():
            level = 1 / (rule.run_length * len(models))
            found = self._trace(rule, model, version, moment=moment, level=level)
            if found is None:
                # Without a comparison nothing is known, so what was bad stays so.
                continue
            bad = _judge(found, model, version, self._versions)
            findings += bad
            named = {each.key for each in bad}
            for key in [one for one in clean if one[1] == model and one not in named]:
                clean[key] += 1
                if clean[key] >= CLEAN_NIGHTS:
                    del clean[key]
                    findings.append(_recover(key))
            clean |= dict.fromkeys(named, 0)
        held = [
            [[*key[:3], [list(pair) for pair in key[3]]], nights] for key, nights in clean.items()
        ]
        return findings, json.dumps(held)

    def _trace(
        self, rule: Rule, model: str, version: str, *, moment: int, level: float
    ) -> Trace | None:
        """Trace the last days of a model, or return `None` if there is nothing to compare with."""
        choice = self._configuration.baseline
        began = moment - DAYS * DAY
        has_version = choice is not None and choice.kind == "version"
        before = find_baseline_span(choice, self._versions, model, version, began)
        if before is None:
            # Before the first release, the weeks before are what there is to compare with.
            before = find_baseline_span(choice, self._versions, model, "", began)
            has_version = False
        if before is None:
            return None
        after = Span(
            to_datetime(began), to_datetime(moment), model, version if has_version else None
        )
        definition = self._configuration.definition
        try:
            return trace_spans(
                self._store,
                self._project,
                definition,
                before,
                after,
                now=moment + definition.window * SECOND,
                measure=rule.measure,
                choices=TraceChoices(
                    direction="fall",
                    level=level,
                    permutations=min(math.ceil(2 / level), MOST_PERMUTATIONS),
                ),
                threads=self._threads,
            )
        except (UsageError, InputError):
            return None


def _list_models(versions: Sequence[Version], rule: Rule, moment: int) -> dict[str, str]:
    """Return the models that ranked in the last days, each with its newest version."""
    recent = [
        one
        for one in versions
        if one.environment == "production"
        and not one.folded
        and one.first < moment
        and one.last >= moment - DAYS * DAY
        and rule.model in {None, one.model}
    ]
    return {
        one.model: one.version for one in sorted(recent, key=lambda one: (one.first, one.version))
    }


def _judge(found: Trace, model: str, version: str, versions: Sequence[Version]) -> list[Finding]:
    """Return a finding for each slice that fell."""
    findings = []
    for at, cause in enumerate(found.causes):
        told = explain_fall(found, at)
        if told is None or cause.contribution >= 0:
            continue
        place = tuple(pair for pair in cause.slice if pair[0] not in RANKERS)
        came = next((each.text for each in cause.arrivals if each.attribute == "version"), None)
        first = next(
            (one.first for one in versions if (one.model, one.version) == (model, came)), None
        )
        findings.append(
            Finding(
                kind="quality",
                model=model,
                version=came or version,
                slice=place,
                verdict="bad",
                began=None if first is None else to_datetime(first),
                reason=told.sentence,
                evidence={
                    "lane": "nightly trace",
                    "p_value": told.p_value,
                    "level": found.search.level,
                    "contribution": told.contribution,
                    "share": told.share,
                    "before": told.before,
                    "after": told.after,
                },
            )
        )
    return findings


def _recover(key: StreamKey) -> Finding:
    kind, model, version, place = key
    return Finding(
        kind=kind,
        model=model,
        version=version,
        slice=place,
        verdict="good",
        reason=f"The nightly trace has not named it for {CLEAN_NIGHTS} nights.",
    )


def _read(progress: str) -> list[tuple[list[object], int]]:
    return json.loads(progress) if progress else []


def _read_key(held: Sequence[object]) -> StreamKey:
    kind, model, version, place = held
    pairs = tuple((name, text) for name, text in place)  # type: ignore[attr-defined]  # as written
    return kind, model, version, pairs  # type: ignore[return-value]  # as written
