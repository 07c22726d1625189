"""What `make simulate` simulates is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from dev.simulate.labels import arrived, draw_lists, find_broken
from dev.simulate.traffic import Traffic, World, lower

RANDOM = 20261122


def test_a_fall_lowers_the_mean_as_far_as_it_says() -> None:
    draw = np.random.default_rng(RANDOM)
    seen = Traffic(World(per_day=2000), draw).draw_baseline()
    mean = float(seen.value.mean())
    falls = seen.value - lower(seen, 0.05, draw, mean).value
    assert falls.mean() == pytest.approx(0.05, abs=4 * falls.std() / np.sqrt(falls.size))


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
