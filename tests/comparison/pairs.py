"""Pairs of a comparison, made by hand."""

from __future__ import annotations

from inspect import Parameter, signature

from rankscope._compare.pair import Compared

FIELDS = signature(Compared).parameters.values()


def make_pair(baseline, run, difference, *, reach, p, **others):
    """A pair with an interval of a given reach on both sides of the difference.

    Fields without a default that nobody gives are 0, so that a field more changes nothing here.
    """
    given = {field.name: 0.0 for field in FIELDS if field.default is Parameter.empty}
    usual = {
        "baseline": baseline,
        "run": run,
        "slice": None,
        "clusters": None,
        "baseline_mean": 0.5,
        "run_mean": 0.5 + difference,
        "difference": difference,
        "lower": difference - reach,
        "upper": difference + reach,
        "level": 0.95,
        "interval_method": "t",
        "interval_note": "",
        "test": "permutation",
        "correction": "holm",
        "p_corrected": p,
    }
    return Compared(**given | usual | others)
