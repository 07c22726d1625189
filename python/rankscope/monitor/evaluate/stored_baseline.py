"""Computes the baseline of a project, and keeps it until its rankings change."""

from __future__ import annotations

import json

from rankscope.errors import EmptyError
from rankscope.monitor.evaluate.baseline import (
    INTERVAL,
    Baseline,
    BaselineSample,
    find_previous,
)
from rankscope.monitor.evaluate.contexts import find_contexts
from rankscope.monitor.evaluate.stored_windows import name_place
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import format_time, read_span
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.store.records import CellRow, Version
    from rankscope.monitor.store.store import StoreReader

LONGEST = 28 * DAY
"""Of the version before, what was shown earlier than this before the newest one is not taken."""


@record(frozen=True, slots=True)
class Plan:
    """The rankings that a baseline is computed from.

    Args:
        of: What it is called.
        environment: Where they were made.
        model: The model that ranked them (default: any).
        version: Its version (default: any).
        hours: The hours in which they are, ascending.
    """

    of: str
    environment: str
    model: str | None
    version: str | None
    hours: tuple[int, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what distinguishes this plan from others."""
        return {
            "of": self.of,
            "environment": self.environment,
            "model": self.model,
            "version": self.version,
            "hours": [len(self.hours), *self.hours[:1], *self.hours[-1:]],
        }


def find_baseline(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    known: str,
    changed: Collection[int],
    now: int,
    threads: int | None = None,
) -> str:
    """Compute the baseline of a project, or return the known one if it still holds."""
    if configuration.baseline is None:
        return ""
    rows = store.cells(project, configuration.digest, slice=name_place(()))
    plan = plan_baseline(
        configuration.baseline,
        configuration.definition,
        store.versions(project),
        rows,
        now=now,
    )
    if plan is None:
        return ""
    said = plan.to_dict() | {"slices": [list(values) for _, values in slicing.values]}
    if known and json.loads(known)["plan"] == said and not set(plan.hours) & set(changed):
        return known
    is_set = configuration.baseline.kind == "set"
    contexts = find_contexts(store.contexts(project), plan.environment, plan.model, plan.version)
    sample = BaselineSample(configuration.definition, contexts, None if is_set else now, threads)
    for since, until in join_hours(plan.hours):
        sample.take(store.read(project, since, until, is_brief=True))
    try:
        found = sample.average(configuration.baseline.kind, plan.of, INTERVAL, slicing)
    except EmptyError:
        return ""
    return json.dumps({"plan": said, "baseline": found.to_dict()})


def read_baseline(text: str, definition: Definition) -> Baseline | None:
    """Read a baseline that `find_baseline` returned."""
    return Baseline.from_dict(json.loads(text)["baseline"], definition) if text else None


def plan_baseline(
    choice: BaselineChoice,
    definition: Definition,
    versions: Sequence[Version],
    rows: Sequence[CellRow],
    *,
    now: int,
) -> Plan | None:
    """Return which rankings a baseline is computed from."""
    environment = choice.environment if choice.kind == "set" else "production"
    model, version = choice.model, choice.version
    since, until = read_span(choice.since, choice.until)
    of = " ".join(filter(None, (environment, model, version)))
    if choice.kind == "version":
        shown = [
            one
            for one in versions
            if one.environment == "production" and model in {None, one.model} and not one.folded
        ]
        newest = max(shown, key=lambda one: (one.first, one.version), default=None)
        if newest is None:
            return None
        model = newest.model
        version = find_previous(shown, model=model, version=newest.version)
        if version is None:
            return None
        of = " ".join(filter(None, (model, version)))
        since = newest.first - LONGEST
    elif choice.kind == "period" and since is not None and until is not None:
        of = " ".join(
            filter(None, (f"{format_time(since)} to {format_time(until)}", model, version))
        )
    closed = now - definition.window * SECOND - HOUR
    hours = {
        row.start
        for row in rows
        if row.environment == environment
        # An hour that has folded versions may have the wanted one among them.
        and (model in {None, row.model} or row.model == OTHER)
        and (version in {None, row.version} or row.version == OTHER)
        and (since is None or row.start >= since - since % HOUR)
        and (until is None or row.start < until)
        and (choice.kind == "set" or row.start <= closed)
    }
    if not hours:
        return None
    return Plan(of, environment, model, version, tuple(sorted(hours)))


def join_hours(hours: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join consecutive hours into spans.

    Examples:
        >>> from rankscope.monitor.events.limits import HOUR
        >>> [(since // HOUR, until // HOUR) for since, until in join_hours([0, HOUR, 5 * HOUR])]
        [(0, 2), (5, 6)]
    """
    since = until = None
    for hour in hours:
        if since is not None and until == hour:
            until += HOUR
            continue
        if since is not None and until is not None:
            yield since, until
        since, until = hour, hour + HOUR
    if since is not None and until is not None:
        yield since, until
