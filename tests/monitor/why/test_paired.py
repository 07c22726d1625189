"""What the same queries changed, and which of them fell most."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.settings.interval import Interval

from tests.monitor.why.windows import make_window

QUICK = TraceChoices(interval=Interval(resamples=299))


def test_a_key_weighs_as_much_as_its_mean_share() -> None:
    before = make_window([1.0, 0.5, 0.5, 0.0], key=["a", "b", "b", "only before"])
    after = make_window([0.5, 0.0, 1.0, 1.0], key=["a", "a", "b", "only after"])
    found = trace(before, after, QUICK)
    paired = found.paired
    weights = {"a": (1 / 4 + 2 / 4) / 2, "b": (2 / 4 + 1 / 4) / 2}
    changes = {"a": 0.25 - 1.0, "b": 1.0 - 0.5}
    within = sum(weights[key] * changes[key] for key in weights)
    assert paired.within == pytest.approx(within, abs=1e-15)
    assert paired.change == pytest.approx(within / sum(weights.values()), abs=1e-15)
    assert paired.losses["ordering"] == pytest.approx(paired.change, abs=1e-15)
    assert (paired.keys, paired.queries) == (2, (3, 3))
    centre = (0.5 + 0.625) / 2
    assert paired.entered == pytest.approx(1 / 4 * (1 - centre), abs=1e-15)
    assert paired.left == pytest.approx(-1 / 4 * (0 - centre), abs=1e-15)
    parts = [paired.within, paired.mix, paired.entered, paired.left]
    assert math.fsum(parts) == pytest.approx(found.change, abs=1e-15)


def test_the_same_queries_have_a_narrower_interval() -> None:
    random = np.random.default_rng(1)
    value = random.random(400)
    keys = [str(number) for number in range(400)]
    after = value - 0.01 * random.random(400)
    found = trace(make_window(value, key=keys), make_window(after, key=keys[::1]), QUICK)
    apart = trace(
        make_window(value, key=keys),
        make_window(after, key=[f"other {key}" for key in keys]),
        QUICK,
    )
    assert apart.paired is None
    assert "No query occurs in both spans." in str(apart)
    ends, whole = found.paired.interval, apart.intervals["change"]
    assert ends[1] < 0 < whole[1]
    assert ends[1] - ends[0] < (whole[1] - whole[0]) / 10
    assert ends[0] < found.paired.change < ends[1]


def test_clusters_that_are_in_both_windows_are_drawn_together() -> None:
    """A key is a cluster where nothing else is said: what it has in both windows cancels."""
    random = np.random.default_rng(1)
    value = random.random(400)
    keys = [str(number) for number in range(400)]
    together = trace(make_window(value, key=keys), make_window(value - 0.01, key=keys), QUICK)
    ends = together.intervals["change"]
    assert ends == pytest.approx((-0.01, -0.01), abs=1e-9)


def test_another_ideal_is_told_from_another_ranking() -> None:
    # What is gained stays 5 of 10 and becomes 5 of 20; then 2.5 of 10.
    half, quarter = make_window([0.5], key=["a"]), make_window([0.25], key=["a"])
    by_labels = trace(half, make_window([0.25], key=["a"], ideal=[20.0]), QUICK).paired
    by_ranking = trace(half, quarter, QUICK).paired
    assert (by_labels.change, by_labels.by_ideal, by_labels.other_ideal) == (-0.25, -0.25, 1)
    assert (by_ranking.change, by_ranking.by_ideal, by_ranking.other_ideal) == (-0.25, 0.0, 0)


def test_an_ideal_that_went_makes_all_of_a_change() -> None:
    undefined = {"ordering": [0.0], "undefined": [1.0]}
    after = make_window([0.0], key=["a"], ideal=[0.0], losses=undefined)
    paired = trace(make_window([0.5], key=["a"]), after, QUICK).paired
    assert (paired.change, paired.by_ideal) == (-0.5, -0.5)
    assert paired.losses == {
        "retrieval": 0.0,
        "truncation": 0.0,
        "ordering": 0.5,
        "undefined": -1.0,
    }


def test_queries_that_fell_most_come_first() -> None:
    before = make_window([1.0, 0.9, 0.5, 0.5, 1.0], key=["c", "b", "a", "d", None])
    after = make_window([0.5, 0.1, 0.5, 0.9, 0.3, 0.0], key=["c", "b", "b", "d", "a", None])
    found = trace(before, after, TraceChoices(most_queries=3, interval=Interval(resamples=100)))
    assert found.fallen.rows() == [
        ("all", "b", 1, 2, 0.9, pytest.approx(0.3), pytest.approx(-0.6), 1, None),
        ("all", "c", 1, 1, 1.0, 0.5, -0.5, 0, None),
        ("all", "a", 1, 1, 0.5, 0.3, -0.2, 4, None),
    ]


def test_where_no_key_repeats_the_lowest_values_are_listed() -> None:
    after = make_window([0.5, 0.1, 0.1, 0.0], key=["a", "c", "b", None])
    found = trace(make_window([1.0], key=["x"]), after, TraceChoices(most_queries=3))
    assert found.fallen.rows() == [
        ("all", "", None, 1, None, 0.0, None, 3, None),
        ("all", "b", None, 1, None, 0.1, None, 2, None),
        ("all", "c", None, 1, None, 0.1, None, 1, None),
    ]


def test_queries_of_the_slices_found_are_listed() -> None:
    keys = [str(number) for number in range(600)]
    device = ["tv" if number % 5 == 0 else "pc" for number in range(600)]
    is_tv = np.array([name == "tv" for name in device])
    value = np.random.default_rng(1).random(600) / 10 + 0.8
    after = np.where(is_tv, value - 0.3, value)
    after[[5, 17]] -= [0.2, 0.7]
    found = trace(
        make_window(value, key=keys, device=device), make_window(after, key=keys, device=device)
    )
    assert {*found.fallen.column("slice")} == {"device=tv"}
    assert found.fallen.column("query_key")[0] == "5"
    assert "17" not in found.fallen.column("query_key")
    assert len(found.fallen) == 10
    assert "The queries that fell most:" in str(found)
