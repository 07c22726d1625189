"""The table is complete."""

from __future__ import annotations

import pytest
import rankscope
from rankscope.measures import TABLE, Row, parse
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
