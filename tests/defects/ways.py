"""Evaluates one input in two ways; that all others agree is tested in `tests/invariance`."""

from __future__ import annotations

import rankscope as rs


def compute_means(qrels, run, measures, policy="ties=doc_id"):
    """Return the means, which are the same for rankings in memory."""
    found = dict(rs.evaluate(qrels, run, measures, policy=policy))
    chosen = rs.Policy.parse(policy).resolve()
    ranked = rs.Rankings.from_run(qrels, run, ties=chosen.ties)
    assert dict(ranked.evaluate(measures, policy=chosen)) == found
    return found
