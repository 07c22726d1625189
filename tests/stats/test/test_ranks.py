"""The Wilcoxon and sign tests agree with SciPy, and say when they mislead."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family
from scipy import stats


def test_one(test: str, differences: np.ndarray) -> paired.Tested:
    """Test one pair with these differences."""
    values = np.stack([np.zeros(len(differences)), differences])
    family = Family(values=values, sizes=np.ones(len(differences)), pairs=[(0, 1)])
    return paired.test_pairs([family], test=test)


test_one.__test__ = False


@pytest.mark.parametrize("count", [3, 8, 25, 50])
def test_wilcoxon_is_exact_for_few_differences(count: int) -> None:
    differences = np.random.default_rng(count).normal(0.3, 1, count)
    expected = stats.wilcoxon(differences, method="exact")
    found = test_one("wilcoxon", np.append(differences, [0.0, 0.0]))
    assert found.statistic[0] == expected.statistic
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.is_exact
    assert found.smallest_p[0] == 2 / 2**count


@pytest.mark.parametrize("has_ties", [False, True])
def test_wilcoxon_is_normal_for_many_differences_or_ties(has_ties: bool) -> None:
    differences = np.random.default_rng(7).normal(0.1, 1, 300)
    if has_ties:
        differences = np.round(differences[:40], 1)
    expected = stats.wilcoxon(differences, method="asymptotic", zero_method="wilcox")
    found = test_one("wilcoxon", differences)
    assert found.statistic[0] == expected.statistic
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert not found.is_exact


def test_differences_that_are_equal_but_for_rounding_are_ties() -> None:
    differences = np.array([0.1 + 0.2, -0.3, 0.5, 0.7, -0.2, 0.05])
    found = test_one("wilcoxon", differences)
    expected = stats.wilcoxon(np.round(differences, 6), method="asymptotic")
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize(("wins", "losses"), [(7, 1), (1, 7), (120, 90), (5, 5), (1, 0)])
def test_the_sign_test_is_binomial(wins: int, losses: int) -> None:
    differences = np.array([0.1] * wins + [-0.2] * losses + [0.0] * 3)
    found = test_one("sign", differences)
    expected = stats.binomtest(wins, wins + losses).pvalue
    assert found.p[0] == pytest.approx(expected, rel=1e-9)
    assert found.statistic[0] == wins
    assert found.smallest_p[0] == 2 / 2 ** (wins + losses)


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_warnings_say_when_they_mislead(test: str) -> None:
    differences = np.random.default_rng(3).normal(0, 1, 1001)
    many = " ".join(test_one(test, differences).warnings)
    assert "1,001 queries" in many
    assert "not whether" in many
    differences[:400] = 0
    few = " ".join(test_one(test, differences[:1000]).warnings)
    assert "1,000 queries" not in few
    assert "40% of them" in few


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_no_difference_has_p_1(test: str) -> None:
    assert test_one(test, np.zeros(5)).p.tolist() == [1]
