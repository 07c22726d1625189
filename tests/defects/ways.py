"""Evaluates one input in two ways; that all others agree is tested in `tests/invariance`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import rankscope as rs
from rankscope import Measure

Ways = Callable[..., dict[str, float]]


def compute_means(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, float]],
    measures: Sequence[Measure | str],
    policy: str = "ties=doc_id",
) -> dict[str, float]:
    """Return the means, which are the same for rankings in memory."""
    found = dict(rs.evaluate(qrels, run, measures, policy=policy))
    chosen = rs.Policy.parse(policy).resolve()
    ranked = rs.Rankings.from_run(qrels, run, ties=chosen.ties)
    assert dict(ranked.evaluate(measures, policy=chosen)) == found
    return found
