"""What measures accept at their limits: just below, at and just above each of them."""

from __future__ import annotations

import math

import pytest
from rankscope.errors import MeasureError
from rankscope.evaluation.measure import _Caller
from rankscope.measures import domains
from rankscope.measures.parse import parse
from rankscope.measures.spelling import _complete, _is_complete, literal


@pytest.mark.parametrize(
    ("domain", "limit"),
    [
        (domains.CUTOFF, 10**100),
        (domains.DIVISOR, 2**53),
        (domains.DEPTH, 1_000_000),
        (domains.COUNT, 2**53),
        (domains.TOP_GRADE, 1023),
        (domains.SCALE, 1023),
    ],
    ids=["cutoff", "divisor", "depth", "count", "top grade", "scale"],
)
def test_a_whole_number_has_a_limit(domain: domains.Domain, limit: int) -> None:
    for number in (limit - 1, limit):
        assert domain.read(number) == number
    # 2**53 + 1 is no double.
    for number in (limit + 1, limit + 2):
        if domain is domains.COUNT and float(number) == limit:
            continue
        with pytest.raises(ValueError, match=r"^$"):
            domain.read(number)


def test_a_persistence_is_at_most_9999_of_10_000() -> None:
    for number in (0.9998, 0.9999):
        assert domains.PERSISTENCE.read(number) == number
    with pytest.raises(ValueError, match=r"^$"):
        domains.PERSISTENCE.read(0.999_901)


def test_a_measure_is_written_in_100_000_characters_at_most() -> None:
    for length in (99_999, 100_000):
        assert parse("P@10".ljust(length)).name == "P@10"
    with pytest.raises(MeasureError, match="at most 100,000 characters, found 100,001"):
        parse("P@10".ljust(100_001))


def test_a_number_in_a_measure_has_200_digits_at_most() -> None:
    for digits in (199, 200):
        assert parse(f"P@{'9'.zfill(digits)}").name == "P@9"
    with pytest.raises(MeasureError, match="found one of 201 digits"):
        parse(f"P@{'9'.zfill(201)}")


def test_integers_below_2_to_the_53_are_written_without_a_point() -> None:
    assert literal(2.0**53 - 1) == "9007199254740991"
    assert literal(2.0**53) == "9007199254740992.0"


@pytest.mark.parametrize("highest", [9, 10, 11])
def test_the_level_of_ranx_gives_grades_up_to_10_a_gain(highest: int) -> None:
    gains = dict(parse("ndcg-l2").settings["gain"])
    assert gains.get(float(highest)) == (highest if highest <= 10 else None)


@pytest.mark.parametrize(
    ("domain", "ends", "are_in"),
    [
        (domains.PROBABILITY, (0.0, 1.0), False),
        (domains.FRACTION, (0.0, 1.0), True),
        (domains.POSITIVE, (0.0,), False),
        (domains.PERSISTENCE, (0.0,), False),
        (domains.TOP_GRADE, (0.0,), False),
        (domains.BASE, (1.0,), False),
    ],
    ids=["probability", "fraction", "positive", "persistence", "top grade", "base"],
)
def test_a_number_has_ends(
    domain: domains.Domain, ends: tuple[float, ...], *, are_in: bool
) -> None:
    for end, inside in zip(ends, (math.inf, -math.inf), strict=False):
        near = math.nextafter(end, inside)
        assert domain.read(near) == near
        beyond = math.nextafter(end, -inside)
        for number in (beyond,) if are_in else (beyond, end):
            with pytest.raises(ValueError, match=r"^$"):
                domain.read(number)
        if are_in:
            assert domain.read(end) == end


def test_a_plain_name_has_120_characters_at_most() -> None:
    made = "nDCG(gain='exp2', ideal='retrieved')@1"
    rest = parse(made).plain_name.removeprefix("ndcg_at_1")
    for length in (119, 120):
        name = parse(made + "0" * (length - len(f"ndcg_at_1{rest}"))).plain_name
        assert len(name) == length
        assert name.endswith(f"0{rest}")
    # What would be longer ends in a checksum.
    name = parse(made + "0" * (121 - len(f"ndcg_at_1{rest}"))).plain_name
    assert len(name) == 120
    assert not name.endswith(rest)


@pytest.mark.parametrize(("highest", "count"), [(99, 100), (100, 101), (101, 1)])
def test_a_table_of_gains_up_to_grade_100_is_completed(highest: int, count: int) -> None:
    gains = _complete({highest: 5.0})
    assert isinstance(gains, dict)
    assert len(gains) == count
    assert _is_complete(((float(highest), 5.0),)) == (highest > 100)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        # Twice the number of letters in common, divided by that of all: 2 * 3 / 8 = 0.75.
        ("nxcg", "did you mean 'nDCG'?"),
        # 2 * 13 / 35 = 0.743
        ("personalizatixxxxxxx", "`rankscope measures` lists them"),
    ],
)
def test_a_name_is_suggested_if_three_quarters_are_alike(name: str, hint: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse(name)
    assert caught.value.hint == hint


@pytest.mark.parametrize("limit", [1.0, 4.0])
def test_a_value_is_outside_its_range_by_more_than_a_billionth(limit: float) -> None:
    caller = _Caller("mine", len, vectorized=False, takes_k=False, limits=(0.0, limit))
    caller._check_limits([limit * (1 + 0.995e-9), -0.995e-9 * limit])
    for value in (limit * (1 + 1.005e-9), -1.005e-9 * limit):
        with pytest.raises(ValueError, match=f"expected a value from 0 to {limit:g}"):
            caller._check_limits([value])
