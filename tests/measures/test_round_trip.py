"""Names and measures are one to one."""

from __future__ import annotations

import pickle

from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope.measures import TABLE, Measure, parse
from rankscope.measures.domains import DISCOUNTS, GAINS
from rankscope.measures.table import measure

numbers = st.integers(0, 5) | st.floats(0, 1e6)
finite = st.integers(-5, 5) | st.floats(-1e30, 1e30)
VALUES: dict[str, st.SearchStrategy[object]] = {
    "k": st.integers(1, 10**6),
    "rel": numbers,
    "beta": st.floats(1e-3, 1e3),
    "p": st.floats(0.01, 0.99),
    "recall": st.floats(0, 1),
    "max_grade": st.integers(1, 1023) | st.floats(0.1, 100),
    "graded": st.booleans(),
    "judged_only": st.booleans(),
    "gain": st.sampled_from(GAINS)
    | st.lists(finite, min_size=1, max_size=4)
    | st.dictionaries(finite, finite, min_size=1, max_size=4),
    "discount": st.sampled_from(DISCOUNTS) | st.lists(numbers, min_size=1, max_size=4),
    "base": st.floats(1.1, 100),
    "s": st.floats(0.1, 5),
}


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    """Any measure of the table, with any values for some of its parameters."""
    row = TABLE[draw(st.sampled_from(list(TABLE)))]
    settings: dict[str, object] = {}
    for parameter in row.parameters:
        if parameter.only_with:
            companion, allowed = parameter.only_with
            default = row.parameter(companion).default
            if settings.get(companion, default) not in allowed:
                continue
        if parameter.name == "rel" and settings.get("graded"):
            continue
        if draw(st.booleans()):
            words = st.sampled_from(parameter.domain.choices or [None])
            settings[parameter.name] = draw(VALUES.get(parameter.name, words))
    assume(not (settings.get("graded") and "rel" in settings))
    return measure(row.name)(**settings)


@given(measures())
def test_a_name_is_read_back_as_the_measure(any_measure: Measure) -> None:
    assert parse(str(any_measure)) == any_measure
    assert str(parse(str(any_measure))) == str(any_measure)


@given(measures())
def test_a_measure_survives_pickling(any_measure: Measure) -> None:
    again = pickle.loads(pickle.dumps(any_measure))  # noqa: S301 - it was dumped here
    assert (again, hash(again), str(again)) == (any_measure, hash(any_measure), str(any_measure))


@given(measures())
def test_a_plain_name_is_an_identifier(any_measure: Measure) -> None:
    assert any_measure.plain_name.isidentifier()
    assert any_measure.plain_name == any_measure.plain_name.lower()


@given(measures(), measures())
def test_two_measures_share_a_name_only_if_they_are_equal(one: Measure, other: Measure) -> None:
    same = one == other
    assert (one.name == other.name, one.plain_name == other.plain_name) == (same, same)
