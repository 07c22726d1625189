"""Floors: the values that streams are compared with, from the same slice of the baseline."""

from __future__ import annotations

from rankscope import engine
from rankscope.data.interval import Interval
from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.sample import collect_sample
from rankscope.monitor.alerts.rule import LENGTHS
from rankscope.monitor.evaluate.baseline import find_previous
from rankscope.monitor.evaluate.contexts import find_contexts
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import read_span
from rankscope.records import record
from rankscope.stats.clusters import average_by_cluster
from rankscope.stats.floor import find_floor
from rankscope.stats.means import estimate_mean
from rankscope.stats.threshold import Threshold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rankscope.monitor.alerts.detect.sample import Sample
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.configuration import BaselineChoice
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.store.records import Context, Version
    from rankscope.monitor.store.store import StoreReader
    from rankscope.stats.means import Mean

    # The environment, from when, until when, as of when, and the contexts.
    _Wanted: TypeAlias = tuple[int, int, int | None, tuple[int, ...]]

T = Interval(method="t")
LONGEST = 28 * DAY
MOST_RANKINGS = 500_000
"""The previous version is measured over at most this long, or about this many rankings."""


@record(frozen=True, slots=True)
class StreamFloor:
    """The floor of a stream, or why it has none.

    Args:
        floor: What the mean is held against; `None` where there is none.
        baseline: The mean that it was made from.
        reason: Why there is none.
    """

    floor: float | None
    baseline: Mean | None
    reason: str = ""


class Floors:
    """Finds the floors of streams, and reads each part of the baseline once.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        choice: What values are held against.
        definition: The definition to evaluate with.
        contexts: What rankings have in common.
        versions: The versions that have rankings.
        now: The time as of which labels of production count.
        threads: The number of threads.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        choice: BaselineChoice | None,
        definition: Definition,
        *,
        contexts: Mapping[int, Context],
        versions: Sequence[Version],
        now: int,
        threads: int | None = None,
    ) -> None:
        self._store = store
        self._project = project
        self._choice = choice
        self._definition = definition
        self._contexts = contexts
        self._versions = versions
        self._now = now
        self._threads = threads
        self._samples: dict[_Wanted, Sample] = {}

    def find(self, rule: Rule, model: str, version: str, place: Slice) -> StreamFloor:
        """Return the floor of a version and slice.

        Args:
            rule: The rule that asks.
            model: The model.
            version: Its version.
            place: The slice.
        """
        if self._choice is None:
            return StreamFloor(None, None, "the project has no baseline")
        wanted = self._want(self._choice, model, version)
        if wanted is None:
            return StreamFloor(None, None, f"there is no earlier version of {model or 'the model'}")
        if wanted not in self._samples:
            since, until, now, contexts = wanted
            self._samples[wanted] = collect_sample(
                self._store.read(self._project, since, until),
                contexts,
                self._definition,
                now=now,
                threads=self._threads,
            )
        asked = set(place)
        sliced = [
            number for number in wanted[-1] if asked.issubset(self._contexts[number].attributes)
        ]
        return hold(rule, self._samples[wanted], sliced, engine.count_threads(self._threads))

    def _want(self, choice: BaselineChoice, model: str, version: str) -> _Wanted | None:
        """Return which rankings make the baseline of a version, or `None`."""
        if choice.kind == "version":
            before = find_previous(self._versions, model=model, version=version)
            if before is None:
                return None
            here, earlier = (
                next(
                    one
                    for one in self._versions
                    if (one.environment, one.model, one.version) == ("production", model, name)
                )
                for name in (version, before)
            )
            shown_for = (earlier.last - earlier.first + 1) * MOST_RANKINGS // earlier.rankings
            since = here.first - min(LONGEST, shown_for)
            numbers = self._find_contexts("production", model, before)
            return since, here.first, self._now, numbers
        if choice.kind == "period":
            numbers = self._find_contexts("production", choice.model, choice.version)
            begin, end = read_span(choice.since, choice.until)
            return begin or 0, end or 0, self._now, numbers
        numbers = self._find_contexts(choice.environment, choice.model, choice.version)
        theirs = [one for one in self._versions if one.environment == choice.environment]
        since = min((one.first for one in theirs), default=0)
        until = max((one.last for one in theirs), default=-1) + 1
        return since, until, None, numbers

    def _find_contexts(
        self, environment: str, model: str | None, version: str | None
    ) -> tuple[int, ...]:
        return tuple(find_contexts(self._contexts, environment, model, version))


def hold(rule: Rule, baseline: Sample, contexts: Sequence[int], threads: int = 1) -> StreamFloor:
    """Compute the floor from the rankings of the baseline.

    Args:
        rule: What is asked.
        baseline: The rankings of the baseline.
        contexts: Those of the slice.
        threads: The number of threads.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    rows = baseline.find(contexts)
    values, clusters = baseline.values[rule.measure][rows], baseline.clusters[rows]
    means = average_by_cluster(values, clusters, baseline.times[rows], LENGTHS[rule.period])
    count = len(np.unique(means.cluster))
    if count < rule.fewest:
        return StreamFloor(
            None,
            None,
            f"the baseline has {count} users or queries with a value, and needs {rule.fewest}",
        )
    if rule.kind == "threshold":
        mean = estimate_mean(values, clusters, T, threads)
        limit = Threshold(
            baseline=mean.value,
            tolerance=rule.tolerance,
            is_relative=rule.is_relative,
            needs=rule.needs,
            fewest=rule.fewest,
        ).limit
        return StreamFloor(limit, mean)
    # Of the same means as the floor is made from.
    of = estimate_mean(means.value, np.arange(len(means.value)), T, threads).value
    tolerance = rule.tolerance * of if rule.is_relative else rule.tolerance
    try:
        floor = find_floor(means, tolerance, T, threads)
    except UsageError as error:
        return StreamFloor(None, None, f"the baseline has no floor: {error.message}")
    return StreamFloor(floor.value, floor.baseline)
