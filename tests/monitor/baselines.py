"""Baselines as the tests compute them: over all rankings of a kind, without stored windows."""

from __future__ import annotations

from rankscope.monitor.evaluate.baseline import BaselineSample, find_contexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.baseline import Baseline
    from rankscope.monitor.events.event import Environment
    from rankscope.monitor.store.store import Store


def measure_rankings(
    store: Store,
    definition: Definition,
    environment: Environment,
    *,
    now: int | None = None,
    until: int | None = None,
    version: str | None = None,
) -> Baseline:
    """The mean over rankings; as of a moment in production, and of all labels in a set."""
    contexts = find_contexts(store.contexts("default"), environment, None, version)
    sample = BaselineSample(definition, contexts, now, 1)
    sample.take(store.read("default", None, until))
    return sample.average("set" if now is None else "period", environment)
