"""Sign-flip p-values are the shares of all flips, and hold for all pairs together."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from rankscope import _core
from rankscope.errors import DeadlineError, UsageError
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family


def make_family(values: np.ndarray, pairs: list[tuple[int, int]] | None = None) -> Family:
    """Return a family of single queries, with all pairs of systems unless some are given."""
    every = list(combinations(range(len(values)), 2))
    return Family(values=values, sizes=np.ones(values.shape[1]), pairs=pairs or every)


def flip_all(values: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """Return the statistic of each flip and pair; the first flip is what was observed."""
    signs = np.array([*product([1, -1], repeat=values.shape[1])])
    differences = np.array([values[other] - values[one] for one, other in pairs]).T
    return signs @ differences / np.sqrt(np.square(differences).sum(axis=0))


def step_down(statistics: np.ndarray) -> list[float]:
    """Return adjusted p-values by Westfall and Young's definition, one hypothesis at a time."""
    observed = statistics[0]
    p: dict[int, float] = {}
    least = 0.0
    for at in sorted(range(len(observed)), key=lambda one: -observed[one]):
        left = [other for other in range(len(observed)) if other not in p]
        largest = statistics[:, left].max(axis=1)
        least = max(least, float((largest >= observed[at] - 1e-9).mean()))
        p[at] = least
    return [p[at] for at in range(len(observed))]


def test_exact_p_values_are_shares_of_all_flips() -> None:
    # Multiples of 0.1: many flips tie with what was observed, up to rounding.
    values = np.random.default_rng(3).integers(0, 11, (4, 11)) / 10
    family = make_family(values)
    found = paired.test_pairs([family])
    every = np.abs(flip_all(values, list(family.pairs)))
    assert found.is_exact
    assert found.permutations == 0
    assert found.p.tolist() == (every >= every[0] - 1e-9).mean(axis=0).tolist()
    assert found.max_t.tolist() == pytest.approx(step_down(every), rel=1e-12)


def test_sampled_p_values_are_near_the_exact_ones() -> None:
    random = np.random.default_rng(5)
    values = np.round(random.random((3, 17)), 3)
    values[1] += 0.2
    family = make_family(values)
    exact = np.abs(flip_all(values, list(family.pairs)))
    found = paired.test_pairs([family], permutations=40_000)
    assert not found.is_exact
    assert found.permutations == 40_000
    error = 5 * np.sqrt(0.25 / 40_000)
    assert found.p == pytest.approx((exact >= exact[0] - 1e-9).mean(axis=0), abs=error)
    assert found.max_t == pytest.approx(step_down(exact), abs=error)
    # The statistic is signed, and in standard errors under random flips.
    assert np.abs(found.statistic) == pytest.approx(exact[0], rel=1e-12)
    assert (found.statistic[0] > 0) == (values[1].sum() > values[0].sum())


def test_a_pair_that_differs_on_few_queries_is_exact_beside_others() -> None:
    random = np.random.default_rng(8)
    values = random.random((3, 50))
    values[2] = values[0]
    values[2, :6] += 0.125
    found = paired.test_pairs([make_family(values, [(0, 1), (0, 2)])], permutations=999)
    assert found.p[1] == 2 / 2**6 == found.smallest_p[1]
    assert found.smallest_p[0] == 1 / 1000


def test_identical_systems_have_p_1() -> None:
    same = np.ones((2, 1)) * np.linspace(0, 1, 40)
    found = paired.test_pairs([make_family(same), make_family(same + 1e-17)])
    assert found.p.tolist() == found.max_t.tolist() == found.smallest_p.tolist() == [1, 1]


def test_families_share_flips_whatever_their_slices() -> None:
    values = np.random.default_rng(9).random((2, 80))
    whole = make_family(values)
    part = Family(values=values, sizes=(np.arange(80) % 2).astype(float), pairs=[(0, 1)])
    apart = paired.test_pairs([whole], permutations=9999)
    together = paired.test_pairs([whole, part, whole], permutations=9999)
    assert together.p[0] == together.p[2] == apart.p[0]
    assert (together.max_t >= together.p).all()


def test_a_check_can_stop_the_flips() -> None:
    def stop() -> None:
        raise DeadlineError("too late")

    with pytest.raises(DeadlineError, match="too late"):
        paired.test_pairs([make_family(np.random.default_rng(1).random((2, 40)))], check=stop)


def test_the_core_refuses_what_does_not_fit() -> None:
    units = np.arange(3)
    with pytest.raises(ValueError, match="do not fit"):
        _core.count_flips([(units, np.zeros(5), 2, [(0, 1)])], 3, 99, 0, 1, None)
    for wrong in (units - 1, units + 1):
        with pytest.raises(ValueError, match="do not fit"):
            _core.count_flips([(wrong, np.zeros(6), 2, [(0, 1)])], 3, 99, 0, 1, None)


def test_arguments_are_checked() -> None:
    family = make_family(np.zeros((2, 3)))

    for wrong in (98, 10**8, True, 1.5):
        with pytest.raises(UsageError, match="permutations from 99"):
            paired.test_pairs([family], permutations=wrong)

    with pytest.raises(UsageError, match="finite"):
        make_family(np.array([[0.0, np.nan], [0.0, 1.0]]))
