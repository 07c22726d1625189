"""P-values and intervals of rows in any order agree with SciPy's permutation test and bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from scipy import stats

from tests.invariance.shuffled import NEW, OLD, QRELS, shuffle, to_dict

RESAMPLES = 9999


def compare(queries: int, order: int, method: str = "auto") -> tuple[rs.Comparison, np.ndarray]:
    """Return the comparison of two runs in an order of rows, and the differences of queries."""
    kept = [
        to_dict(shuffle([row for row in rows if row[0] <= queries], order))
        for rows in (QRELS, OLD, NEW)
    ]
    runs = dict(zip(("old", "new"), kept[1:], strict=True))
    values = [rs.evaluate(kept[0], run, "nDCG@10").per_query("nDCG@10") for run in runs.values()]
    found = rs.compare(
        kept[0],
        runs,
        ["AP", "nDCG@10"],
        permutations=RESAMPLES,
        interval=rs.Interval(method=method),
        bounds=False,
    )
    return found, values[1] - values[0]


@pytest.mark.parametrize("order", [0, 1])
def test_few_queries_have_the_exact_p_value_of_scipy(order: int) -> None:
    found, differences = compare(14, order)
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert found["nDCG@10", "new"].p == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("order", [0, 1])
def test_a_p_value_of_many_queries_is_that_of_scipy_but_for_chance(order: int) -> None:
    found, differences = compare(45, order)
    expected = stats.permutation_test(
        (differences,),
        lambda sample, axis: sample.mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    p = expected.pvalue
    assert 0.01 < p < 0.5
    # Five standard errors of the difference of two shares.
    error = np.sqrt(2 * p * (1 - p) / RESAMPLES)
    assert found["nDCG@10", "new"].p == pytest.approx(p, abs=5 * error)


@pytest.mark.parametrize("order", [0, 1])
def test_the_default_interval_is_what_the_test_of_scipy_does_not_reject(order: int) -> None:
    found, differences = compare(14, order)
    compared = found["nDCG@10", "new"]

    def test(difference: float) -> float:
        return stats.permutation_test(
            (differences - difference,), np.sum, permutation_type="samples", n_resamples=np.inf
        ).pvalue

    assert compared.interval_method == "dense"
    assert test(compared.lower + 1e-9) >= 0.05 > test(compared.lower - 1e-9)
    assert test(compared.upper - 1e-9) >= 0.05 > test(compared.upper + 1e-9)
