"""Baselines as the tests compute them: over all rankings of a kind, without stored windows."""

from __future__ import annotations

from rankscope.monitor.evaluate.baseline import BaselineSample, find_contexts


def measure_rankings(store, definition, environment, *, now=None, until=None, version=None):
    """The mean over rankings; as of a moment in production, and of all labels in a set."""
    contexts = find_contexts(store.contexts("default"), environment, None, version)
    sample = BaselineSample(definition, contexts, now, 1)
    sample.take(store.read("default", None, until))
    return sample.average("set" if now is None else "period", environment)
