"""What `make simulate` simulates is what it says."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.monitor.sequential.observations import DAY

from dev.simulate.labels import arrived, draw_lists, find_broken
from dev.simulate.traffic import BASELINE_DAYS, Traffic, World, lower, select

RANDOM = 20261122


def test_a_fall_lowers_the_mean_as_far_as_it_says() -> None:
    draw = np.random.default_rng(RANDOM)
    seen = Traffic(World(per_day=2000), draw).draw_baseline()
    mean = float(seen.value.mean())
    falls = seen.value - lower(seen, 0.05, draw, mean).value
    assert falls.mean() == pytest.approx(0.05, abs=4 * falls.std() / np.sqrt(falls.size))


def test_weekends_are_worse_by_as_much_as_the_world_says() -> None:
    world = World(per_day=5000, weekend=-0.03)
    seen = Traffic(world, np.random.default_rng(RANDOM)).draw_baseline()
    weekday = (seen.time // DAY + 3) % 7
    week, weekend = seen.value[weekday < 5], seen.value[weekday >= 5]
    error = np.sqrt(week.var() / week.size + weekend.var() / weekend.size)
    # Values that are cut off at 0 and 1 change a little less.
    assert weekend.mean() - week.mean() == pytest.approx(-0.03, abs=4 * error + 0.003)


def test_days_differ_by_as_much_as_the_world_says_and_neighbours_are_alike() -> None:
    world = World(day_deviation=0.015)
    effects = np.array([Traffic(world, np.random.default_rng(run)).effect for run in range(300)])
    assert effects.std() == pytest.approx(0.015, rel=0.03)
    pairs = np.corrcoef(effects[:, :-1].ravel(), effects[:, 1:].ravel())
    assert pairs[0, 1] == pytest.approx(world.correlation, abs=0.03)


def test_a_known_item_measure_is_1_for_97_percent_of_the_searches() -> None:
    world = World(per_day=2000, known_item=True)
    values = Traffic(world, np.random.default_rng(RANDOM)).draw_baseline().value
    assert (values == 1).mean() == pytest.approx(0.97, abs=0.004)


def test_the_slices_of_a_day_are_all_of_its_searches() -> None:
    day = Traffic(World(), np.random.default_rng(RANDOM)).draw_day(0)
    parts = [select(day, cell) for cell in range(10)]
    assert sum(len(part.value) for part in parts) == len(day.value) == 200
    assert {int(time // DAY) for time in day.time} == {4 + BASELINE_DAYS}


def test_lost_labels_leave_the_discount_per_label_and_reversed_lists_do_not() -> None:
    hours = np.zeros(100_000, dtype=np.int64)

    def average(**change: float) -> tuple[float, float, float]:
        lists = draw_lists(np.random.default_rng(RANDOM), hours, **change)
        by_label = np.nansum(lists.discount * lists.gain) / lists.gain.sum()
        return float(lists.gain.mean()), float(by_label), float(np.nanmean(lists.seen.value))

    whole, lost, worse = average(), average(kept=0.6), average(broken=find_broken(0.1))
    assert lost[0] == pytest.approx(0.6 * whole[0], rel=0.02)
    assert lost[1] == pytest.approx(whole[1], abs=0.003)
    assert lost[2] != pytest.approx(whole[2], abs=0.003)
    assert worse[2] == pytest.approx(whole[2] - 0.1, abs=0.004)
    assert worse[1] < whole[1] - 0.02


def test_labels_that_are_four_times_as_slow_arrive_after_four_times_the_time() -> None:
    assert arrived(4.0, slower=4.0) == arrived(1.0)
    assert 0 < arrived(1.0) < arrived(4.0) < 1
