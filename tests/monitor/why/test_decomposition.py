from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope._settings import Interval
from rankscope.errors import FormatError, UsageError
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.decomposition_result import LOSSES
from rankscope.monitor.why.query_columns import TextColumn
from rankscope.monitor.why.reassignment import reassign

from tests.monitor.why.windows import WINDOWS, decompose, make_window
from tests.refusals import refuses


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"values": [0.5, 0.5], "ideal": [1.0]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "key": ["a"]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "cluster": ["a"]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "device": ["a"]}, "length_mismatch"),
        ({"values": [float("nan")]}, "bad_losses"),
        ({"values": [0.5], "ideal": [float("inf")]}, "bad_losses"),
        ({"values": [0.5], "losses": {"ordering": [0.4]}}, "bad_losses"),
        ({"values": [0.5], "losses": {"retrieval": [1e-8]}}, "bad_losses"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, code):
    with pytest.raises(FormatError) as caught:
        make_window(**columns)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize("codes", [[0, 1], [-2]])
def test_codes_without_a_text_are_refused(codes):
    with refuses(FormatError, "column_damaged"):
        TextColumn(("tv",), np.array(codes))


def test_a_text_may_be_written_twice():
    twice = TextColumn(("tv", "tv"), np.array([0, 1], dtype=np.int8))
    window = make_window([1.0, 0.5], device=["tv", "tv"])
    other = replace(window, attributes={"device": twice})
    found = decompose(window, other, "device")
    assert [each.queries for each in found.slices] == [(2, 2)]


def test_clusters_on_both_sides_swap_them():
    is_there = np.ones(25, dtype=bool)
    signs = reassign(is_there, is_there, 299, seed=4).standardize(np.eye(25))
    assert signs.shape == (300, 25)
    assert (signs[0] == 1).all()
    assert set(np.unique(signs)) == {-1.0, 1.0}


def test_statistics_have_mean_0_and_variance_1_over_reassignments():
    random = np.random.default_rng(9)
    is_before = np.arange(60) < 50
    is_after = (np.arange(60) < 20) | ~is_before
    effects = random.exponential(1, (60, 4))
    standard = reassign(is_before, is_after, 20_000, seed=2).standardize(effects)[1:]
    assert standard.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.04)
    assert standard.var(axis=0) == pytest.approx(np.ones(4), abs=0.05)


def mean(values):
    return Fraction(sum(map(Fraction, values))) / len(values)


@given(WINDOWS, WINDOWS, st.sampled_from([["one"], ["two"], ["one", "two"]]), st.integers(1, 4))
def test_parts_add_up_to_the_change(before, after, by, most_values):
    found = decompose(before, after, *by, most_values=most_values)
    change = mean(after.value.tolist()) - mean(before.value.tolist())
    assert abs(found.change - change) <= 1e-12
    for whole in (
        [each.total for each in found.slices],
        [found.mix, found.within, found.entered, found.left],
        [found.mix, *found.losses.values()],
        [part for each in found.slices for part in (each.mix, *each.losses.values())],
    ):
        assert abs(math.fsum(whole) - change) <= 1e-12
    assert sum(each.queries[0] for each in found.slices) == len(before)
    assert sum(each.queries[1] for each in found.slices) == len(after)


@given(WINDOWS, WINDOWS)
def test_parts_are_those_of_the_formula(before, after):
    """ColumnValues against the formula in rational numbers, slice by slice."""
    found = decompose(before, after, "one")
    windows = (before, after)
    texts = [
        [
            "<missing>" if code < 0 else window.attributes["one"].texts[code]
            for code in window.attributes["one"].codes
        ]
        for window in windows
    ]
    centre = sum(mean(window.value.tolist()) for window in windows) / 2
    assert {each.slice[0][1] for each in found.slices} == {*texts[0], *texts[1]}
    for each in found.slices:
        name = each.slice[0][1]
        at = [[number for number, text in enumerate(column) if text == name] for column in texts]
        shares = [
            Fraction(len(chosen), len(column)) for chosen, column in zip(at, texts, strict=True)
        ]
        means = [
            mean([float(window.value[number]) for number in chosen]) if chosen else Fraction(0)
            for window, chosen in zip(windows, at, strict=True)
        ]
        expected = {"mix": Fraction(0), "within": Fraction(0), "entered": 0, "left": 0}
        if at[0] and at[1]:
            expected["mix"] = (shares[1] - shares[0]) * (sum(means) / 2 - centre)
            expected["within"] = (shares[0] + shares[1]) / 2 * (means[1] - means[0])
        elif at[1]:
            expected["entered"] = shares[1] * (means[1] - centre)
        else:
            expected["left"] = -shares[0] * (means[0] - centre)
        for part, amount in expected.items():
            assert getattr(each, part) == pytest.approx(float(amount), abs=1e-14)


@given(WINDOWS, WINDOWS)
def test_going_back_adds_the_same_with_the_other_sign(before, after):
    there = {each.slice: each for each in decompose(before, after, "one").slices}
    back = {each.slice: each for each in decompose(after, before, "one").slices}
    for name, each in there.items():
        assert each.mix == pytest.approx(-back[name].mix, abs=1e-14)
        assert each.within == pytest.approx(-back[name].within, abs=1e-14)
        assert each.entered == pytest.approx(-back[name].left, abs=1e-14)
        for loss in LOSSES:
            assert each.losses[loss] == pytest.approx(-back[name].losses[loss], abs=1e-14)


def test_an_attribute_that_one_window_has_is_missing_in_the_other():
    found = decompose(make_window([1.0]), make_window([0.5], device=["tv"]), "device")
    lines = {each.name: (each.mix, each.within, each.entered, each.left) for each in found.slices}
    assert lines == {"device=<missing>": (0, 0, 0, -0.25), "device=tv": (0, 0, -0.25, 0)}


def test_what_is_not_observable_has_no_part():
    before = make_window([1.0, 0.5], observes_retrieval=False, device=["tv", "tv"])
    after = make_window([0.5, 0.5], observes_retrieval=False, device=["tv", "tv"])
    found = decompose(before, after, "device")
    assert found.losses == {
        "retrieval": None,
        "truncation": 0.0,
        "ordering": -0.25,
        "undefined": 0.0,
    }
    assert found.slices[0].losses["retrieval"] is None


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"measure": "nDCG@10"}, "nDCG@5 and nDCG@10"),
        ({"observes_retrieval": False}, "observable in only one"),
    ],
)
def test_windows_that_are_not_alike_are_refused(other, message):
    with refuses(UsageError, "not_alike", match=message):
        trace(make_window([1.0]), make_window([1.0], **other))


QUICK = TraceChoices(interval=Interval(resamples=299))


def test_a_key_weighs_as_much_as_its_mean_share():
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


def test_the_same_queries_have_a_narrower_interval():
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


def test_clusters_that_are_in_both_windows_are_drawn_together():
    """A key is a cluster where nothing else is said: what it has in both windows cancels."""
    random = np.random.default_rng(1)
    value = random.random(400)
    keys = [str(number) for number in range(400)]
    together = trace(make_window(value, key=keys), make_window(value - 0.01, key=keys), QUICK)
    ends = together.intervals["change"]
    assert ends == pytest.approx((-0.01, -0.01), abs=1e-9)


def test_another_ideal_is_told_from_another_ranking():
    # What is gained stays 5 of 10 and becomes 5 of 20; then 2.5 of 10.
    half, quarter = make_window([0.5], key=["a"]), make_window([0.25], key=["a"])
    by_labels = trace(half, make_window([0.25], key=["a"], ideal=[20.0]), QUICK).paired
    by_ranking = trace(half, quarter, QUICK).paired
    assert (by_labels.change, by_labels.by_ideal, by_labels.other_ideal) == (-0.25, -0.25, 1)
    assert (by_ranking.change, by_ranking.by_ideal, by_ranking.other_ideal) == (-0.25, 0.0, 0)


def test_an_ideal_that_went_makes_all_of_a_change():
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


def test_queries_that_fell_most_come_first():
    before = make_window([1.0, 0.9, 0.5, 0.5, 1.0], key=["c", "b", "a", "d", None])
    after = make_window([0.5, 0.1, 0.5, 0.9, 0.3, 0.0], key=["c", "b", "b", "d", "a", None])
    found = trace(before, after, TraceChoices(most_queries=3, interval=Interval(resamples=100)))
    assert found.fallen.rows() == [
        ("all", "b", 1, 2, 0.9, pytest.approx(0.3), pytest.approx(-0.6), 1, None),
        ("all", "c", 1, 1, 1.0, 0.5, -0.5, 0, None),
        ("all", "a", 1, 1, 0.5, 0.3, -0.2, 4, None),
    ]


def test_where_no_key_repeats_the_lowest_values_are_listed():
    after = make_window([0.5, 0.1, 0.1, 0.0], key=["a", "c", "b", None])
    found = trace(make_window([1.0], key=["x"]), after, TraceChoices(most_queries=3))
    assert found.fallen.rows() == [
        ("all", "", None, 1, None, 0.0, None, 3, None),
        ("all", "b", None, 1, None, 0.1, None, 2, None),
        ("all", "c", None, 1, None, 0.1, None, 1, None),
    ]


def test_queries_of_the_slices_found_are_listed():
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
