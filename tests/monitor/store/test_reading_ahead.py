"""What is read ahead comes as it is, and reading ends with whoever asked for it."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest
from rankscope.monitor.store.ahead import read_ahead


def count(made: list[int], until: int) -> Generator[int]:
    """Numbers, each noted when it is made, and -1 when no more will be."""
    try:
        for number in range(until):
            made.append(number)
            yield number
    finally:
        made.append(-1)


def test_one_piece_is_made_while_another_is_worked_on() -> None:
    is_made = threading.Event()

    def make() -> Generator[int]:
        yield 1
        is_made.set()
        yield 2

    pieces = read_ahead(make())
    assert next(pieces) == 1
    assert is_made.wait(300)
    assert list(pieces) == [2]


def test_whoever_stops_early_lets_go_of_the_rest() -> None:
    made: list[int] = []
    for number in read_ahead(count(made, 1000)):
        if number == 3:
            break
    else:
        pytest.fail("it did not stop")
    assert made in ([*range(4), -1], [*range(5), -1])


def test_what_goes_wrong_is_told() -> None:
    def fail() -> Generator[int]:
        yield 1
        raise ValueError("damaged")

    pieces = read_ahead(fail())
    assert next(pieces) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(pieces)
