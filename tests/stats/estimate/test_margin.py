"""Tests against a margin agree with the intervals at the same level."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.settings.interval import Interval
from rankscope.stats.estimate.interval import estimate_mean
from rankscope.stats.estimate.margin import test_bounded as run_bounded
from rankscope.stats.estimate.margin import test_dense as run_dense
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family


@pytest.mark.parametrize("seed", range(12))
def test_a_margin_is_refuted_exactly_where_the_bounded_interval_ends(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 90))
    differences = np.clip(random.normal(random.uniform(-0.1, 0.1), 0.1, count), -1, 1)
    codes = None if seed % 2 else np.sort(random.integers(0, 40, count))
    level = (0.5, 0.9, 0.95, 0.999)[seed % 4]
    interval = Interval(level, method="bounded")
    ends = estimate_mean(differences, interval=interval, low=-1.0, high=1.0, clusters=codes)
    for end in ends.ends:
        for margin, is_within in ((abs(end) * 1.0001, True), (abs(end) * 0.9999, False)):
            found = run_bounded(differences, codes, (-1.0, 1.0), margin)
            p = found.p_above if end > 0 else found.p_below
            is_side = (end > 0) == (end == ends.upper)
            if is_side:
                assert (p < 1 - level) == is_within


def test_a_margin_is_refuted_exactly_where_the_dense_interval_ends() -> None:
    differences = np.random.default_rng(3).normal(0.02, 0.1, 40)
    family = Family(
        values=np.array([0 * differences, differences]), sizes=np.ones(40), pairs=[(0, 1)]
    )
    [found] = paired.invert_pairs([family], level=0.95)
    for margin in (found.upper + 1e-9, found.upper - 1e-9):
        [at] = paired.invert_pairs([family], level=0.95, margin=margin)
        assert (run_dense(differences.mean(), at, margin).p_above < 0.05) == (margin > found.upper)
        # It is the p-value of the test of what is left.
        moved = Family(
            values=np.array([0 * differences, differences - margin]),
            sizes=np.ones(40),
            pairs=[(0, 1)],
        )
        assert at.p_above == pytest.approx(paired.test_pairs([moved]).p[0], abs=1e-12)


def test_a_difference_beyond_the_margin_has_p_1() -> None:
    differences = np.full(40, 0.2)
    found = run_bounded(differences, None, (-1.0, 1.0), 0.1)
    assert (found.p_above, found.p_equivalent) == (1.0, 1.0)
    assert found.p_below < 0.1


def test_equal_values_of_few_queries_show_no_equivalence() -> None:
    for count in (2, 10, 50):
        found = run_bounded(np.zeros(count), None, (-1.0, 1.0), 0.05)
        # A query that loses everything is as rare as the margin, and is missing from the sample.
        assert found.p_equivalent >= min(2 * (1 - 0.05) ** count, 1.0) - 1e-9


def test_without_limits_there_are_no_bounds() -> None:
    assert run_bounded(np.zeros(3), None, (None, None), 0.1) is None
    # Values beyond their limits have none.
    assert run_bounded(np.full(3, 2.0), None, (-1.0, 1.0), 0.1) is None
