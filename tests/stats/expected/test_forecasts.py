"""Calibrations and forecasts."""

from __future__ import annotations

from dataclasses import replace as change

import numpy as np
import pytest
from rankscope.monitor.plain import make_plain, read_plain
from rankscope.records import replace
from rankscope.stats.expected.calibration import (
    FEWEST,
    FEWEST_DAYS,
    FEWEST_IN_GROUP,
    Calibration,
    count_missing,
    fit_calibration,
    sample_variance,
)
from rankscope.stats.expected.forecast import (
    FEWEST_EARLY,
    FEWEST_LISTS,
    Forecast,
    contradicts,
    expect,
    forecast,
    has_group,
)

from dev.simulate.expected import DISCOUNTS, Shown, World, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.stats.expected.curves import Lists

DAYS = 10
WORLD = World(per_day=200)


def draw(world: World, days: int, seed: int, first: int = 0) -> Shown:
    return show(world, np.arange(first, first + days), np.zeros(days), np.random.default_rng(seed))


def fit(past: Shown) -> Calibration:
    return fit_calibration(
        past.lists, past.gains, past.values, past.early, discounts=DISCOUNTS, groups=2
    )


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return fit(draw(WORLD, DAYS, 1))


def look(calibration: Calibration, lists: Lists, *, is_hour: bool = False) -> Forecast:
    summary = expect(calibration, lists).summarize(lists.clusters, np.arange(len(lists)))
    made = forecast(calibration, summary, is_hour=is_hour)
    assert made is not None
    return made


def test_lists_like_those_of_the_calibration_are_expected_to_have_their_mean(
    calibration: Calibration,
) -> None:
    past = draw(WORLD, DAYS, 1)
    made = look(calibration, past.lists)
    assert made.value == pytest.approx(float(np.nanmean(past.values)), abs=0.01)
    assert made.lower < made.value < made.upper
    assert made.defined == pytest.approx(float((~np.isnan(past.values)).sum()), rel=0.01)
    assert (made.is_outside, made.is_unlike) == (False, False)


def test_worse_lists_are_expected_to_be_worse_by_as_much_as_they_are() -> None:
    world = World(per_day=2000, by_people=True)
    calibration = fit(draw(world, 5, 2))
    worse = draw(replace_world(world, spread=0.6), 5, 3, first=6)
    made = look(calibration, worse.lists)
    assert made.lower <= np.nanmean(worse.values) <= made.upper < calibration.mean - 0.02


def replace_world(world: World, **parts: float) -> World:
    return change(world, **parts)  # type: ignore[arg-type]  # of several types


@pytest.mark.parametrize("scale", [1.6, 3.0])
def test_scores_of_another_scale_are_doubtful(calibration: Calibration, scale: float) -> None:
    assert look(calibration, draw(replace_world(WORLD, scale=scale), 1, 4).lists).is_outside


def test_scores_that_are_missing_are_doubtful(calibration: Calibration) -> None:
    assert look(calibration, draw(replace_world(WORLD, is_scored=False), 1, 4).lists).is_outside


def test_the_first_labels_contradict_a_lost_relation_and_nothing_else(
    calibration: Calibration,
) -> None:
    for world, is_contradicted in ((WORLD, False), (replace_world(WORLD, swapped=1.0), True)):
        now = draw(world, 1, 5)
        gaps = now.early - expect(calibration, now.lists).share
        gaps = gaps[~np.isnan(gaps)]
        assert contradicts(calibration, gaps) == is_contradicted
        assert not contradicts(calibration, gaps[: FEWEST_EARLY - 1])


def test_fewer_lists_than_a_mean_needs_have_no_forecast(calibration: Calibration) -> None:
    lists = draw(WORLD, 1, 6).lists
    expected = expect(calibration, lists)
    for count in (FEWEST_LISTS - 1, FEWEST_LISTS):
        made = forecast(
            calibration, expected.summarize(lists.clusters, np.arange(count)), is_hour=True
        )
        assert (made is None) == (count < FEWEST_LISTS)


def test_summaries_of_hours_add_up_to_that_of_the_day(calibration: Calibration) -> None:
    lists = draw(WORLD, 1, 7).lists
    expected, half = expect(calibration, lists), len(lists) // 2
    parts = [
        expected.summarize(lists.clusters, rows)
        for rows in (np.arange(half), np.arange(half, len(lists)))
    ]
    one = forecast(calibration, parts[0] + parts[1], is_hour=False)
    other = look(calibration, lists)
    assert one is not None
    assert (one.value, one.upper) == pytest.approx((other.value, other.upper), abs=1e-12)


def test_values_that_are_all_one_leave_room_for_others() -> None:
    past = draw(WORLD, DAYS, 1)
    calibration = fit(replace_shown(past, np.ones(len(past.values))))
    made = look(calibration, past.lists)
    assert made.value == pytest.approx(1.0)
    assert made.lower < 1.0


def replace_shown(shown: Shown, values: np.ndarray) -> Shown:
    return Shown(shown.lists, shown.gains, values, values)


@pytest.mark.parametrize(
    ("lists", "days", "lacks"),
    [
        (FEWEST, FEWEST_DAYS, (0, 0)),
        (FEWEST - 1, FEWEST_DAYS, (1, 0)),
        (FEWEST, FEWEST_DAYS - 1, (0, 1)),
    ],
)
def test_a_calibration_needs_lists_of_several_days(
    lists: int, days: int, lacks: tuple[int, int]
) -> None:
    assert count_missing(lists, days) == lacks


def test_a_group_needs_enough_lists(calibration: Calibration) -> None:
    for count, has_enough in ((FEWEST_IN_GROUP - 1, False), (FEWEST_IN_GROUP, True)):
        assert has_group(replace(calibration, groups=(count, 0)), 0) == has_enough


def test_a_mean_of_lists_of_one_user_varies_as_one_list_does() -> None:
    # Lists that are the same: the covariance is the variance.
    assert sample_variance(np.array([8]), 0.5, 0.5) == 0.5
    assert sample_variance(np.array([1] * 8), 0.5, 0.5) == 0.5 / 8


def test_a_calibration_is_stored_and_read_back(calibration: Calibration) -> None:
    assert read_plain(Calibration, make_plain(calibration, is_stored=True)) == calibration
