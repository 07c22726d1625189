"""The parts of a change add up to it, whatever the slices, and are those of the formula."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import UsageError
from rankscope.monitor.why.compute import trace
from rankscope.monitor.why.decomposition_result import LOSSES, Decomposition
from rankscope.monitor.why.query_columns import QueryColumns

from tests.monitor.why.windows import WINDOWS, decompose, make_window
from tests.refusals import refuses


def mean(values: list[float]) -> Fraction:
    return Fraction(sum(map(Fraction, values))) / len(values)


@given(WINDOWS, WINDOWS, st.sampled_from([["one"], ["two"], ["one", "two"]]), st.integers(1, 4))
def test_parts_add_up_to_the_change(
    before: QueryColumns, after: QueryColumns, by: list[str], most_values: int
) -> None:
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
def test_parts_are_those_of_the_formula(before: QueryColumns, after: QueryColumns) -> None:
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
def test_going_back_adds_the_same_with_the_other_sign(
    before: QueryColumns, after: QueryColumns
) -> None:
    there = {each.slice: each for each in decompose(before, after, "one").slices}
    back = {each.slice: each for each in decompose(after, before, "one").slices}
    for name, each in there.items():
        assert each.mix == pytest.approx(-back[name].mix, abs=1e-14)
        assert each.within == pytest.approx(-back[name].within, abs=1e-14)
        assert each.entered == pytest.approx(-back[name].left, abs=1e-14)
        for loss in LOSSES:
            assert each.losses[loss] == pytest.approx(-back[name].losses[loss], abs=1e-14)


def lines(found: Decomposition) -> dict[str, tuple[float, ...]]:
    return {each.name: (each.mix, each.within, each.entered, each.left) for each in found.slices}


def test_slices_that_entered_or_left_have_lines_of_their_own() -> None:
    before = make_window([1, 1, 0, 0], version=["2", "2", "1", "1"])
    after = make_window([1, 1, 0.5, 0.5], version=["2", "2", "3", "3"])
    # The centre is (0.5 + 0.75) / 2.
    assert lines(decompose(before, after, "version")) == {
        "version=1": (0, 0, 0, 0.5 * 0.625),
        "version=2": (0, 0, 0, 0),
        "version=3": (0, 0, 0.5 * (0.5 - 0.625), 0),
    }


def test_queries_without_an_attribute_are_a_slice() -> None:
    before = make_window([1, 0], device=["tv", None])
    after = make_window([1, 1], device=["tv", None])
    assert lines(decompose(before, after, "device")) == {
        "device=tv": (0, 0, 0, 0),
        "device=<missing>": (0, 0.5, 0, 0),
    }


def test_an_attribute_that_one_window_has_is_missing_in_the_other() -> None:
    found = decompose(make_window([1.0]), make_window([0.5], device=["tv"]), "device")
    assert lines(found) == {"device=<missing>": (0, 0, 0, -0.25), "device=tv": (0, 0, -0.25, 0)}


def test_what_is_not_observable_has_no_part() -> None:
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
def test_windows_that_are_not_alike_are_refused(other: dict[str, object], message: str) -> None:
    with refuses(UsageError, "not_alike", match=message):
        trace(make_window([1.0]), make_window([1.0], **other))
