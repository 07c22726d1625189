"""Slices: few values each, the rest together."""

from __future__ import annotations

from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.store.records import Context

NOTHING = Slicing((("device", ()), ("country", ())), (("device", "country"),))


def extend(slicing: Slicing, *devices: str | None, most: int) -> Slicing:
    """The slices after rankings on some devices came, one after the other."""
    contexts = {
        number: Context("m", "4", "production", () if one is None else (("device", one),))
        for number, one in enumerate(devices)
    }
    return extend_slicing(slicing, contexts, most)


def test_the_values_that_came_first_have_slices_and_the_others_are_counted() -> None:
    slicing = extend(NOTHING, "tv", None, "phone", "car", "watch", most=2)
    assert slicing.values == (("device", ("phone", "tv")), ("country", ()))
    assert slicing.folded == (("device", 2), ("country", 0))


def test_a_value_keeps_its_slice() -> None:
    before = extend(NOTHING, "watch", "car", most=2)
    after = extend(before, "tv", "watch", "car", most=2)
    assert after.values == before.values
    assert after.folded[0] == ("device", 1)
    assert extend(before, "tv", "watch", "car", most=1).values == before.values


def test_all_values_have_slices_where_they_are_few() -> None:
    slicing = extend(NOTHING, "tv", "phone", "car", most=3)
    assert slicing.values[0] == ("device", ("car", "phone", "tv"))
    assert slicing.folded[0] == ("device", 0)


def test_slices_are_of_all_rankings_of_each_attribute_and_of_the_pairs() -> None:
    assert NOTHING.dimensions() == ((), ("device",), ("country",), ("device", "country"))
