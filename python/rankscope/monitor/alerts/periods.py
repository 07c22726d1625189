"""Reads the periods and baselines that rules look at, once for all rules of a project."""

from __future__ import annotations

from functools import cached_property

from rankscope.monitor.alerts.detect.floors import Floors, at_age
from rankscope.monitor.alerts.detect.sample import collect_sample
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankscope.monitor.alerts.detect.sample import Sample
    from rankscope.monitor.alerts.detect.step import Step
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.store.records import Context, Version
    from rankscope.monitor.store.store import StoreReader


class PeriodReader:
    """Reads periods and baselines, once for all rules of a project.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        configuration: The configuration of the project.
        slicing: Which values have slices of their own.
        measures: The names of the measures that rules need.
        versions: The versions that have rankings.
        now: The current time, in microseconds since 1970 in UTC.
        threads: The number of threads.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        configuration: Configuration,
        slicing: Slicing,
        *,
        measures: Collection[str],
        versions: Sequence[Version],
        now: int,
        threads: int | None,
    ) -> None:
        definition = configuration.definition
        chosen = tuple(one for one in definition.measures if one.name in measures)
        self._store = store
        self._project = project
        self._definition = replace(definition, measures=chosen) if chosen else definition
        self._choice = configuration.baseline
        self._slicing = slicing
        self._versions = versions
        self._window = definition.window * SECOND
        self._now = now
        self._threads = threads
        self._held: dict[tuple[int, int], tuple[int, int, Sample]] = {}

    @cached_property
    def contexts(self) -> dict[int, Context]:
        """The contexts, read when the first period is due."""
        return self._store.contexts(self._project)

    @cached_property
    def floors(self) -> Floors:
        """The baseline that values are compared with."""
        return Floors(
            self._store,
            self._project,
            self._choice,
            self._definition,
            contexts=self.contexts,
            versions=self._versions,
            slicing=self._slicing,
            now=self._now,
            threads=self._threads,
        )

    def read(self, step: Step) -> Sample:
        """Read a period of production, with the values that rankings have at its age.

        The last ones are kept for the other rules that look at them, and the hours of a day that
        are due are read together.
        """
        wait = step.age or self._window
        until = step.until
        if step.age:
            closed = (self._now - step.age) // HOUR * HOUR
            until = max(until, min(step.start - step.start % DAY + DAY, closed))
        held = self._held.get((step.age, step.until - step.start))
        if held is None or not (held[0] <= step.start and step.until <= held[1]):
            sample = self._collect(step.start, until, step.age, until + wait)
            held = (step.start, until, sample)
            self._held[step.age, step.until - step.start] = held
        if held[:2] == (step.start, step.until):
            return held[2]
        return held[2].between(step.start, step.until)

    def _collect(self, since: int, until: int, age: int, now: int) -> Sample:
        shown = [
            number
            for number, context in self.contexts.items()
            if context.environment == "production"
        ]
        return collect_sample(
            self._store.read(self._project, since, until),
            shown,
            at_age(self._definition, age) if age else self._definition,
            now=now,
            threads=self._threads,
        )
