"""One promise for each pair: its p-value, its interval and its margin say the same."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import rankscope as rs
from statsmodels.stats.weightstats import DescrStatsW

QUERIES = 40


def draw(seed, runs, spread=0.1, count=QUERIES):
    """Return the values of runs that are better the later they come."""
    random = np.random.default_rng(seed)
    base = random.uniform(0.2, 0.7, count)
    return {
        f"r{at}": np.clip(base + 0.02 * at + random.normal(0, spread, count), 0, 1).tolist()
        for at in range(runs)
    }


@pytest.mark.parametrize("margin", [0.03, 0.05, 0.2])
@pytest.mark.parametrize("count", [12, 40, 200])
def test_with_a_t_test_the_p_value_of_equivalence_is_tost(margin, count):
    values = draw(count, 2, count=count)
    (pair,) = rs.compare(values, values=True, test="t", margin=margin)
    differences = DescrStatsW(np.subtract(values["r1"], values["r0"]))
    p, lower, upper = differences.ttost_mean(-margin, margin)
    assert pair.p_equivalent == pytest.approx(p, rel=1e-9)
    assert pair.p_not_worse == pytest.approx(lower[1], rel=1e-9)
    # The printed interval is that of two one-sided tests at half of 5 % each.
    assert pair.is_equivalent == (max(lower[1], upper[1]) < 0.025)
    assert (pair.lower, pair.upper) == pytest.approx(differences.tconfint_mean(0.05), rel=1e-9)


@pytest.mark.parametrize("method", ["dense", "bounded"])
@pytest.mark.parametrize("seed", range(6))
def test_p_values_of_a_margin_are_small_exactly_where_the_interval_excludes_it(seed, method):
    interval = rs.Interval(method=method)
    values = draw(seed, 2, count=(8, 25, 120)[seed % 3])
    (pair,) = rs.compare(values, values=True, interval=interval)
    for end in (pair.lower, pair.upper):
        for margin in (abs(end) * 1.0001, abs(end) * 0.9999):
            (found,) = rs.compare(values, values=True, interval=interval, margin=margin)
            assert found.is_not_worse == (found.p_not_worse < 0.025) == (pair.lower > -margin)
            assert found.is_equivalent == (found.p_equivalent < 0.025)
            assert found.is_equivalent == (-margin < pair.lower and pair.upper < margin)


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_what_is_not_worse_depends_on_which_values_are_better(lower_is_better):
    values = {"old": [0.5] * 30, "new": [0.5 + 0.001 * (at % 7) for at in range(30)]}
    better = "lower" if lower_is_better else "higher"
    (pair,) = rs.compare(values, values=True, margin=0.002, better=better)
    assert pair.lower > 0.002
    assert pair.is_not_worse != lower_is_better
    text = " ".join(str(rs.compare(values, values=True, margin=0.02, better=better)).split())
    worse = "new" if lower_is_better else "old"
    unless = ", if no rare, large difference is missing here"
    assert f"{worse} is worse by less than 0.02{unless}." in text


@pytest.mark.parametrize("correction", ["holm", "max-t", "bonferroni", "bh", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_an_interval_excludes_0_exactly_if_the_corrected_p_value_is_significant(seed, correction):
    found = rs.compare(draw(seed, 6), values=True, correction=correction)
    for pair in found:
        assert pair.is_significant == (not pair.lower <= 0 <= pair.upper)
    assert len({pair.is_significant for pair in found}) == 2


def test_intervals_are_as_wide_as_their_correction_asks_for():
    values = draw(1, 4)
    pairs = [*itertools.combinations(values, 2)]

    def find(correction, level=0.95):
        found = rs.compare(
            values, values=True, test="t", correction=correction, interval=level, range=None
        )
        return {(pair.baseline, pair.run): pair for pair in found}

    plain, holm, every = find("none"), find("holm"), find("bonferroni")
    assert 0 < sum(pair.is_significant for pair in holm.values()) < len(pairs)
    expected = find("none", 1 - 0.05 / len(pairs))
    for key in pairs:
        assert every[key].upper == pytest.approx(expected[key].upper, rel=1e-12)
        assert plain[key].upper < every[key].upper
        # What Holm's steps reject beyond Bonferroni ends at 0.
        beyond = holm[key].is_significant and not every[key].is_significant
        assert holm[key].upper == every[key].upper
        assert holm[key].lower == (5e-324 if beyond else every[key].lower)
    # Benjamini and Yekutieli: the share of what is significant.
    bh = find("bh")
    share = sum(pair.is_significant for pair in bh.values()) / len(pairs)
    expected = find("none", 1 - 0.05 * share)
    assert bh["r0", "r3"].upper == pytest.approx(expected["r0", "r3"].upper, rel=1e-12)


def test_all_intervals_hold_at_once_as_often_as_they_say():
    # Seven runs with known differences from a baseline, 400 times.
    random = np.random.default_rng(20261130)
    truth, missed, times = np.linspace(-0.03, 0.03, 7), 0, 400
    for _ in range(times):
        base = random.uniform(0.3, 0.7, 30)
        rows = base + truth[:, None] + random.normal(0, 0.05, (7, 30))
        values = {"base": base.tolist()} | {str(at): row.tolist() for at, row in enumerate(rows)}
        found = rs.compare(
            values, values=True, baseline="base", permutations=999, range=None, bounds=None
        )
        missed += any(
            not pair.lower <= expected <= pair.upper
            for pair, expected in zip(found, truth, strict=True)
        )
    assert missed / times <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / times)


def test_a_run_without_lists_for_some_queries_is_also_compared_on_the_others():
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(60)}
    whole = {query: ["b", "a"] for query in qrels}
    part = {query: ["a", "b"] for query in [*qrels][:20]}
    found = rs.compare(qrels, {"whole": whole, "part": part}, "RR")
    (pair,) = found
    # 0.5 for each query, against 1 for a third and 0 for the others.
    assert pair.difference == pytest.approx(1 / 3 - 0.5)
    assert (pair.answered.n, pair.answered.difference) == (20, 0.5)
    text = " ".join(str(found).split())
    assert "whole is better than part by 0.1667 RR" in text
    assert "For 40 of the 60 queries, one of them has no list, which counts as 0." in text
    assert "On the 20 that both have, part leads whole by 0.5000 (p < 0.001)." in text
    skipped = rs.compare(qrels, {"whole": whole, "part": part}, "RR", policy="missing=skip")
    assert skipped["RR", "part"].answered is None
    assert skipped["RR", "part"].difference == 0.5
