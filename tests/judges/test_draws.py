"""The queries that people judge are drawn from those that count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import rankscope as rs
from rankscope.judges.powered import draw_items

RUN = {f"q{at}": {"a": 2.0, "b": 1.0} for at in range(40)}
OTHER = {
    query: {"a": 1.0, "b": 2.0} if at < 10 else docs for at, (query, docs) in enumerate(RUN.items())
}
MODEL = {query: {"a": at % 3, "b": 1} for at, query in enumerate(RUN)}


def test_each_item_that_counts_is_drawn_equally_often() -> None:
    sizes = np.array([1.0] * 10 + [0.0] * 5)
    strata = np.repeat([0, 1, 2], 5)
    counts: Counter[int] = Counter()
    for seed in range(2000):
        drawn = draw_items(strata, sizes, 4, seed)
        # Half of them are of each stratum.
        assert sorted(strata[drawn].tolist()) == [0, 0, 1, 1]
        assert len(set(drawn.tolist())) == 4
        counts.update(drawn.tolist())
    assert sorted(counts) == [*range(10)]
    assert max(abs(count - 800) for count in counts.values()) < 4 * (2000 * 0.4 * 0.6) ** 0.5


def test_queries_are_drawn_from_those_in_which_the_runs_differ() -> None:
    drawn = rs.draw_queries(MODEL, RUN, "P@1", count=4, baseline=OTHER)
    assert set(drawn.queries) <= {f"q{at}" for at in range(10)}
    assert (drawn.changed, drawn.total, drawn.probability) == (10, 40, 0.4)
    assert drawn.probabilities == dict.fromkeys(drawn.queries, 0.4)
    values = rs.evaluate(MODEL, RUN, "P@1"), rs.evaluate(MODEL, OTHER, "P@1")
    of = [
        dict(zip(each.query_texts, each.per_query("P@1").tolist(), strict=True)) for each in values
    ]
    assert drawn.by_model == tuple(of[0][query] - of[1][query] for query in drawn.queries)
    assert rs.draw_queries(MODEL, RUN, "P@1", count=4, baseline=OTHER, seed=1) != drawn
    assert rs.draw_queries(MODEL, RUN, "P@1", count=99, baseline=OTHER).queries == tuple(
        sorted(f"q{at}" for at in range(10))
    )


def test_without_a_baseline_all_queries_count() -> None:
    drawn = rs.draw_queries(MODEL, RUN, "P@1", count=8)
    assert (drawn.changed, drawn.total, len(drawn.queries), drawn.probability) == (40, 40, 8, 0.2)
    assert "8 queries drawn for people from all 40" in str(drawn)


def test_draws_that_make_no_sense_are_refused() -> None:
    with pytest.raises(rs.InputError, match="no query has different documents in both runs"):
        rs.draw_queries(MODEL, RUN, "P@1", count=4, baseline=RUN)
    for settings in ({"count": 0}, {"count": 2.5}, {"count": 4, "seed": -1}):
        with pytest.raises(rs.UsageError, match="whole number"):
            rs.draw_queries(MODEL, RUN, "P@1", **settings)
