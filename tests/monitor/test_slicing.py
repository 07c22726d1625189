"""Slices: few values each, the rest together."""

from __future__ import annotations

import pytest
from rankscope import UsageError
from rankscope.monitor.definition.slices import Slicing, choose_slices
from rankscope.monitor.events.event import Items, Ranking

from tests.monitor.chunks import make_chunk

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

DEVICES = ["tv"] * 3 + ["phone"] * 2 + ["car"] * 2 + ["watch"]


def choose(most: int, pairs: list[tuple[str, str]] | None = None) -> Slicing:
    """The slices of rankings on some devices, one of them without any."""
    shown = [
        Ranking(f"{at}", f"{at}", 0, Items((), ()), attributes=(("device", device),))
        for at, device in enumerate(DEVICES)
    ]
    shown.append(Ranking("none", "none", 0, Items((), ())))
    chunk, contexts = make_chunk(shown)
    attributes = ["device", "country", "device"]
    return choose_slices([chunk], contexts, attributes, most=most, pairs=pairs)


def test_the_most_frequent_values_have_slices_and_those_first_by_name() -> None:
    slicing = choose(2)
    assert slicing.values == (("device", ("car", "tv")), ("country", ()))
    assert slicing.folded == (("device", 2), ("country", 0))


def test_all_values_have_slices_where_they_are_few() -> None:
    assert choose(4).values[0] == ("device", ("car", "phone", "tv", "watch"))
    assert choose(4).folded[0] == ("device", 0)


def test_pairs_are_all_unless_named() -> None:
    every = ((), ("device",), ("country",), ("device", "country"))
    assert choose(2).dimensions() == every
    assert choose(2, pairs=[]).dimensions() == every[:-1]


@pytest.mark.parametrize("pair", [("device", "age"), ("device", "device")])
def test_a_pair_is_of_two_of_the_attributes(pair: tuple[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        choose(2, pairs=[pair])
    assert refused.value.code == "bad_slices"


def test_a_slice_has_room_for_a_value() -> None:
    with pytest.raises(UsageError) as refused:
        choose(0)
    assert refused.value.code == "bad_slices"
