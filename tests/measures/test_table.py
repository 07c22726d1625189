"""The table is complete, and its measures ask the core for what they need."""

from __future__ import annotations

import math

import pytest
import rankscope
from rankscope.errors import MeasureError
from rankscope.measures import (
    AP,
    P_IA,
    TABLE,
    IPrec,
    Measure,
    P,
    Row,
    nDCG,
    parse,
)
from rankscope.measures.spec import PROPERTIES

from tests.interpreter import run_python

ROWS = list(TABLE.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_says_all_that_is_known(row: Row) -> None:
    assert row.formula
    assert row.formula.count("{") == row.formula.count("}")
    assert row.definition.endswith(".")
    assert row.undefined == "" or row.undefined.endswith(".")
    assert row.references
    assert row.value_range[0] <= row.value_range[1]
    assert row.properties <= PROPERTIES.keys()
    assert not row.at or row.parameter(row.at)
    assert not row.uncut or row.uncut in TABLE
    for parameter in row.parameters:
        assert parameter.meaning.endswith(".")
        if not parameter.required:
            assert parameter.domain.read(parameter.default) == parameter.default


def test_names_and_aliases_are_no_more_than_one_measure_each() -> None:
    names = [name for row in ROWS for name in (row.name, *row.aliases)]
    assert sorted(names) == sorted(set(names))


def test_loading_the_table_loads_no_array_library_and_nothing_only_errors_need() -> None:
    program = "import sys, rankscope.measures; print({'numpy', 'difflib'} & set(sys.modules))"
    assert run_python(program) == "set()\n"


@pytest.mark.parametrize("row", [row for row in ROWS if row.of_grades], ids=lambda row: row.name)
def test_the_better_of_two_rankings_has_the_better_value(row: Row) -> None:
    measure = parse(row.example.measure)
    assert measure.better == row.better
    best = [3.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    values = [
        rankscope.Rankings.from_lists([grades]).evaluate(measure)[measure]
        for grades in (best, best[::-1])
    ]
    if row.better == "higher":
        assert values[0] >= values[1]
    elif row.better == "lower":
        assert values[0] <= values[1]


def test_a_gain_function_is_tabulated_over_the_grades() -> None:
    measure = nDCG(gain=lambda grade: grade**2) @ 10
    _, params = measure.kernel_spec(grades=[2, 0, 2, 3])
    assert params["gain"] == [[0.0, 0.0], [2.0, 4.0], [3.0, 9.0]]


def test_a_discount_function_is_tabulated_as_far_as_it_is_needed() -> None:
    measure = nDCG(discount=lambda rank: 1 / rank)
    assert measure.kernel_spec(depth=2)[1]["discount"] == {"kind": "table", "weights": [1.0, 0.5]}
    assert (measure @ 10**18).kernel_spec(depth=1)[1]["discount"] == {
        "kind": "table",
        "weights": [1.0],
    }


def test_a_discount_goes_as_far_as_the_ideal_list() -> None:
    def lengths(ideal: str) -> list[int]:
        measure = nDCG(ideal=ideal, discount=lambda rank: 1 / rank) @ 4
        shapes = [measure.kernel_spec(depth=depth)[1]["discount"] for depth in (2, 6)]
        return [len(shape["weights"]) for shape in shapes]

    assert lengths("judged") == [2, 4]
    assert lengths("slots") == [4, 4]
    assert lengths("whole") == [2, 6]


def test_a_cutoff_beyond_every_list_fits_the_core() -> None:
    assert (nDCG @ 10**20).kernel_spec()[1]["k"] == 2**63 - 1


@pytest.mark.parametrize(
    ("measure", "expected", "hint"),
    [
        (P, "P needs a cutoff", "write P@10, or SetP for the whole list"),
        (P_IA, "P_IA needs a cutoff", "write P_IA@10"),
        (IPrec, "IPrec needs recall", "write IPrec@0.1"),
        (nDCG(discount=[1, 0.5]) @ 3, "for each of 3 ranks, found 2", "@ 2"),
        (nDCG(discount=[1, 0.5]), "needs a cutoff", "@ 10"),
        (nDCG(discount=lambda rank: 1 / rank), "needs a cutoff", "@ 10"),
        (nDCG(discount=lambda rank: -rank) @ 3, "0 or more, found -3.0", ""),
        (nDCG(discount=lambda _: math.inf) @ 3, "to be a finite number", ""),
        (nDCG(discount=lambda _: "x") @ 3, "to be a finite number", ""),
        (nDCG(gain=lambda grade: grade), "needs the grades", "grades="),
        (nDCG(ideal="slots"), "a cutoff with ideal='slots'", "write nDCG(ideal='slots')@10"),
        (AP(denominator="cutoff"), "a cutoff with denominator='cutoff'", "@10"),
        (AP(denominator="cutoff") @ 10**20, "up to 2\\*\\*53, found 100000000000000000000", "@10"),
        (nDCG(ideal="slots", discount=[1, 0.5]) @ 3, "for each of 3 ranks, found 2", "@ 2"),
        (nDCG(ideal="whole", discount=[1, 0.5]) @ 2, "has no cutoff", "remove ideal"),
    ],
)
def test_what_is_missing_is_asked_for(measure: Measure, expected: str, hint: str) -> None:
    with pytest.raises(MeasureError, match=expected) as caught:
        measure.kernel_spec()
    assert hint in caught.value.hint
