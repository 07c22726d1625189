"""What measures accept at their limits: just below, at and just above each of them."""

from __future__ import annotations

import pytest
from rankscope.errors import MeasureError
from rankscope.measures import domains
from rankscope.measures.parse import parse
from rankscope.measures.spelling import literal


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
