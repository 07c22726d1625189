"""What `make simulate` simulates is what it says, and its rules are those of dashboards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, ttest_ind

from dev.simulate.rules import RollingZ, make_rules
from dev.simulate.searches import BASELINE_DAYS, CHANGES, Change, break_some, draw_searches

SEARCHES = draw_searches(np.random.default_rng(20261121), days=7 * 60)
MEAN = float(SEARCHES.value.mean())


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_lowers_the_mean_of_those_concerned_as_far_as_it_says(change: Change) -> None:
    after = break_some(SEARCHES, change, MEAN)
    falls = SEARCHES.value - after.value
    is_concerned = np.full(falls.shape, True)
    if change.slice is not None:
        is_concerned = SEARCHES.slice == change.slice
    concerned = falls[is_concerned]
    error = concerned.std() / np.sqrt(concerned.size)
    assert concerned.mean() == pytest.approx(change.drop, abs=4 * error)
    assert not falls[~is_concerned].any()


def test_values_have_mass_at_0_and_1_and_weekends_are_worse() -> None:
    values = SEARCHES.value
    assert 0.03 < (values == 0).mean() < 0.1
    assert 0.1 < (values == 1).mean() < 0.25
    by_weekday = values.reshape(60, 7, -1).mean(axis=(0, 2))
    assert by_weekday[5:].max() < by_weekday[:5].min()


def test_a_z_test_is_the_one_of_two_samples() -> None:
    baseline, rest = SEARCHES.between(0, BASELINE_DAYS), SEARCHES.between(BASELINE_DAYS, 60)
    broken = break_some(rest, Change("by a little", 0.015), MEAN)
    alarms = RollingZ(baseline.value, 7, baseline.value[:0]).watch(broken)
    for day, is_alarm in enumerate(alarms):
        window = broken.value[max(0, day - 6) : day + 1].ravel()
        z, _ = ttest_ind(window, baseline.value.ravel(), equal_var=False)
        assert is_alarm == (z < norm.ppf(0.05))
    assert 0 < alarms.sum() < len(alarms)


def test_rules_go_on_from_where_they_were_copied() -> None:
    early, late = SEARCHES.between(BASELINE_DAYS, 60), SEARCHES.between(60, 90)
    broken = break_some(late, Change("by half", 0.3), MEAN)
    whole = make_rules(SEARCHES.between(0, BASELINE_DAYS))
    parts = make_rules(SEARCHES.between(0, BASELINE_DAYS))
    for name, rule in whole.items():
        other = parts[name]
        assert np.array_equal(rule.watch(early), other.watch(early))
        alone = other.copy().watch(broken)
        assert alone.any()
        assert np.array_equal(rule.watch(late), other.watch(late))
