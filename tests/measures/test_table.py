"""The table is complete, its measures ask for what they need, and names are one to one."""

from __future__ import annotations

import math
import pickle
import re
from contextlib import suppress

import pytest
import rankscope
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope.errors import MeasureError
from rankscope.measures import AP, P_IA, TABLE, IPrec, P, nDCG, parse
from rankscope.measures.domains import DISCOUNTS, GAINS, LONGEST_PLAIN_NAME
from rankscope.measures.spec import PROPERTIES
from rankscope.measures.table import measure

from tests.interpreter import run_python
from tests.invariance.variants import values_of

ROWS = list(TABLE.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_says_all_that_is_known(row):
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


def test_names_and_aliases_are_no_more_than_one_measure_each():
    names = [name for row in ROWS for name in (row.name, *row.aliases)]
    assert sorted(names) == sorted(set(names))


def test_loading_the_table_loads_no_array_library_and_nothing_only_errors_need():
    program = "import sys, rankscope.measures; print({'numpy', 'difflib'} & set(sys.modules))"
    assert run_python(program) == "set()\n"


@pytest.mark.parametrize("row", [row for row in ROWS if row.of_grades], ids=lambda row: row.name)
def test_the_better_of_two_rankings_has_the_better_value(row):
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


def test_a_gain_function_is_tabulated_over_the_grades():
    measure = nDCG(gain=lambda grade: grade**2) @ 10
    _, params = measure.kernel_spec(grades=[2, 0, 2, 3])
    assert params["gain"] == [[0.0, 0.0], [2.0, 4.0], [3.0, 9.0]]


def test_a_discount_function_is_tabulated_as_far_as_it_is_needed():
    measure = nDCG(discount=lambda rank: 1 / rank)
    assert measure.kernel_spec(depth=2)[1]["discount"] == {"kind": "table", "weights": [1.0, 0.5]}
    assert (measure @ 10**18).kernel_spec(depth=1)[1]["discount"] == {
        "kind": "table",
        "weights": [1.0],
    }


def test_a_discount_goes_as_far_as_the_ideal_list():
    def lengths(ideal):
        measure = nDCG(ideal=ideal, discount=lambda rank: 1 / rank) @ 4
        shapes = [measure.kernel_spec(depth=depth)[1]["discount"] for depth in (2, 6)]
        return [len(shape["weights"]) for shape in shapes]

    assert lengths("judged") == [2, 4]
    assert lengths("slots") == [4, 4]
    assert lengths("whole") == [2, 6]


def test_a_cutoff_beyond_every_list_fits_the_core():
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
def test_what_is_missing_is_asked_for(measure, expected, hint):
    with pytest.raises(MeasureError, match=expected) as caught:
        measure.kernel_spec()
    assert hint in caught.value.hint


numbers = st.integers(0, 5) | st.floats(0, 1e6)
finite = st.integers(-5, 5) | st.floats(-1e30, 1e30)
VALUES = {
    "k": st.integers(1, 10**6),
    "rel": numbers,
    "beta": st.floats(1e-3, 1e3),
    "p": st.floats(0.01, 0.99),
    "recall": st.floats(0, 1),
    "max_grade": st.integers(1, 1023) | st.floats(0.1, 100),
    "T": st.floats(0.1, 100),
    "cost": st.floats(0.1, 100),
    "halflife": st.floats(0.1, 1000),
    "L": st.floats(0.1, 1000),
    "A": st.floats(0, 2),
    "b1": st.floats(0.1, 2),
    "b2": st.floats(0.1, 2),
    "R1": st.floats(0, 20),
    "R2": st.floats(0, 20),
    "alpha": st.floats(0, 1),
    "min_rel": st.floats(0, 0.9),
    "max_rel": st.integers(1, 100) | st.floats(1, 1e6),
    "u": st.floats(0.01, 0.99),
    "gain": st.sampled_from(GAINS)
    | st.lists(finite, min_size=1, max_size=4)
    | st.dictionaries(finite, finite, min_size=1, max_size=4),
    "discount": st.sampled_from(DISCOUNTS) | st.lists(numbers, min_size=1, max_size=4),
    "base": st.floats(1.1, 100),
    "s": st.floats(0.1, 5),
    "levels": st.lists(st.floats(0, 1), min_size=1, max_size=4, unique=True),
    "multiple": st.floats(0.01, 10),
    "hit": finite,
    "false_alarm": finite,
    "miss": finite,
    "rejection": finite,
    "documents": st.integers(0, 10**12),
}


def named(name):
    """A function of the grade with a name."""

    def gain(grade):
        return grade

    gain.__name__ = name
    return gain


@st.composite
def measures(draw):
    """Any measure of the table, with any values for some of its parameters."""
    row = TABLE[draw(st.sampled_from(list(TABLE)))]
    settings = {}
    for parameter in row.parameters:
        if parameter.only_with:
            companion, allowed = parameter.only_with
            default = row.parameter(companion).default
            if settings.get(companion, default) not in allowed:
                continue
        if parameter.name == "rel" and settings.get("graded"):
            continue
        if draw(st.booleans()):
            values = [value for value in values_of(parameter) if value is not None]
            settings[parameter.name] = draw(VALUES.get(parameter.name, st.sampled_from(values)))
    if {"min_rel", "max_rel"} & settings.keys():
        settings.setdefault("max_rel", 4)
    if "NRBP" in row.name and "beta" in settings:  # a probability there
        settings["beta"] = 0.25
    if row.name == "Miscalibration" and "alpha" in settings:  # as above
        settings["alpha"] = 0.25
    assume(not (settings.get("graded") and "rel" in settings))
    return measure(row.name)(**settings)


@given(measures())
def test_a_name_is_read_back_as_the_measure(any_measure):
    assert parse(str(any_measure)) == any_measure
    assert str(parse(str(any_measure))) == str(any_measure)


@given(measures())
def test_a_measure_survives_pickling(any_measure):
    again = pickle.loads(pickle.dumps(any_measure))  # noqa: S301 - it was dumped here
    assert (again, hash(again), str(again)) == (any_measure, hash(any_measure), str(any_measure))


@given(measures())
def test_a_plain_name_is_accepted_by_every_tool_that_takes_metrics(any_measure):
    # Prometheus, MLflow (at most 250 characters), Weights & Biases, and SQL without quotes.
    assert re.fullmatch(r"[a-z][a-z0-9_]*", any_measure.plain_name)
    assert len(any_measure.plain_name) <= LONGEST_PLAIN_NAME


@given(measures(), measures())
def test_two_measures_share_a_name_only_if_they_are_equal(one, other):
    same = one == other
    assert (one.name == other.name, one.plain_name == other.plain_name) == (same, same)


def test_each_measure_and_each_value_of_its_words_has_a_plain_name_of_its_own():
    found = []
    for row in TABLE.values():
        plain = measure(row.name)
        bases = [plain, plain @ 0.5 if row.at == "recall" else plain @ 10] if row.at else [plain]
        for base in bases:
            found.append(base)
            for parameter in row.parameters:
                words = parameter.domain.choices or VALUED.get(parameter.name, ())
                for word in words:
                    with suppress(MeasureError):  # a parameter that needs another one
                        found.append(base(**{parameter.name: word}))
    different = set(found)
    assert len(different) > 200
    assert len({each.plain_name for each in different}) == len(different)


VALUED = {"judged_only": (True,), "graded": (True,), "rel": (2, 0.5), "p": (0.5,), "beta": (2,)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (nDCG(gain=named("exp2")), nDCG(gain="exp2")),
        (nDCG(gain=named("Exp")), nDCG(gain=named("exp"))),
        (nDCG(gain=named("é")), nDCG(gain=named("è"))),
        (nDCG(gain=named("f_discount_zipf")), nDCG(gain=named("f"), discount="zipf")),
        (nDCG(discount=[1.0] * 99), nDCG(discount=[1.0] * 100)),
        (nDCG @ 10**99, nDCG @ (10**99 + 1)),
    ],
)
def test_functions_and_long_tables_have_plain_names_of_their_own(one, other):
    assert one.plain_name != other.plain_name
    for each in (one, other):
        assert re.fullmatch(r"[a-z][a-z0-9_]{,119}", each.plain_name)


def test_plain_names_stay_the_same_from_version_to_version():
    # Dashboards and queries have them, so that a change would break these.
    assert [each.plain_name for each in (nDCG(gain="exp2") @ 10, nDCG(discount=[0.25] * 40))] == [
        "ndcg_at_10_gain_exp2",
        "ndcg_discount_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p25_0p2_x247d1f0564e9f694",
    ]


@pytest.mark.parametrize("name", [row.name for row in TABLE.values() if row.at == "k"])
def test_a_plain_name_with_a_cutoff_is_read_back(name):
    cut = measure(name) @ 7
    assert parse(cut.plain_name) == cut
    rows = {row.name.casefold() for row in TABLE.values()}
    aliases = [alias for alias in cut.row.aliases if alias.casefold() not in rows]
    assert all(parse(f"{alias}_at_7") == cut for alias in aliases)


def test_names_of_other_tools_are_read_with_a_plain_cutoff():
    assert parse("recall_at_5") == measure("R") @ 5
    assert parse("hit_rate_at_5") == measure("Success") @ 5
    assert parse("iprec_at_recall_0.10") == measure("IPrec") @ 0.1
