"""The weight of each rank is what the kernels make of it, and formulas say what that is."""

from __future__ import annotations

import math
import random

import pytest
import rankscope as rs
from rankscope import nDCG

RANKS = 300
FORMULAS = {
    "log2": (1, lambda rank: 1 / math.log2(rank + 1)),
    "log(base=e)": (1 / math.log(2), lambda rank: math.log(2) / math.log(rank + 1)),
    "log(base=10)": (1 / math.log10(2), lambda rank: math.log10(2) / math.log10(rank + 1)),
    "jk(base=e)": (1, lambda rank: 1 / max(1, math.log(rank))),
    "jk(base=10)": (1, lambda rank: 1 / max(1, math.log10(rank))),
    "reciprocal": (1, lambda rank: 1 / rank),
    "linear": (1 / 2, lambda rank: 2 / (rank + 1)),
    "zipf(s=0.5)": (1, lambda rank: 1 / math.sqrt(rank)),
    "zipf(s=2)": (1, lambda rank: 1 / rank**2),
    "halves": (2, lambda rank: 0.5 ** (rank - 1)),
}
HALVES = [2 * 0.5**at for at in range(RANKS)]


def tabulate(ranks=RANKS):
    return rs.measures.tabulate_discounts(
        ranks, bases=[math.e, 10], powers=[0.5, 2], tables={"halves": HALVES}
    )


@pytest.mark.parametrize("name", FORMULAS)
def test_a_weight_is_its_formula_relative_to_rank_1(name):
    first, formula = FORMULAS[name]
    (curve,) = [curve for curve in tabulate().curves if curve.name == name]
    # Logarithms are correctly rounded here and a unit off in C libraries; so are their quotients.
    assert curve.first == pytest.approx(first, rel=1e-15)
    expected = [formula(rank) for rank in range(1, RANKS + 1)]
    assert curve.weights[:RANKS] == pytest.approx(expected, rel=1e-15)


def test_the_formulas_are_of_all_discounts():
    assert {curve.name for curve in tabulate().curves} == set(FORMULAS)


@pytest.mark.parametrize("curve", tabulate(12).curves, ids=lambda curve: curve.name)
def test_a_weight_is_what_one_document_adds(curve):
    alone = [rs.dcg([0] * at + [1], k=at + 1, **dict(curve.settings)) for at in range(12)]
    assert alone[0] == curve.first
    assert [weight / alone[0] for weight in alone] == list(curve.weights[:12])


def test_the_table_has_a_row_a_rank():
    found = tabulate(3)
    assert found.names[:2] == ("rank", "attention")
    assert found.column("rank") == (1, 2, 3)
    assert found.column("attention") == (1, 0.6, 0.4)
    assert found.to_dict()["3"]["reciprocal"] == 1 / 3
    assert found.to_pandas()["linear"].tolist() == [1, 2 / 3, 2 / 4]
    assert found.to_arrow().num_rows == found.to_polars().height == len(found) == 3
    assert math.isnan(tabulate(5).to_dict()["5"]["attention"])


ERRORS = {
    "reciprocal": [1 / 2 - 0.6, 1 / 3 - 0.4, 1 / 4 - 0.3, 1 / 10 - 0.1],
    "linear": [2 / 3 - 0.6, 2 / 4 - 0.4, 2 / 5 - 0.3, 2 / 11 - 0.1],
    "log2": [
        1 / math.log2(3) - 0.6,
        1 / math.log2(4) - 0.4,
        1 / math.log2(5) - 0.3,
        1 / math.log2(11) - 0.1,
    ],
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("ranks", [1, 10, 20])
def test_the_error_is_over_the_ranks_of_the_table_of_attention(name, ranks):
    errors = ERRORS[name]
    (curve,) = [curve for curve in tabulate(ranks).curves if curve.name == name]
    # Each error is a difference of numbers near 1, so exact to 1e-16.
    squares = sum(error**2 for error in errors)
    assert curve.error.rmse == pytest.approx(math.sqrt(squares / 5), abs=1e-15)
    assert abs(curve.error.largest) == pytest.approx(max(map(abs, errors)), abs=1e-15)
    assert curve.error.ranks == 5


def test_log2_is_not_the_closest_to_attention():
    found = rs.measures.tabulate_discounts()
    assert found.closest.name == "reciprocal"
    assert found.errors.column("discount")[:3] == ("reciprocal", "linear", "log2")
    log2 = found.curves[0].error
    assert (log2.rank, log2.largest) == (10, pytest.approx(1 / math.log2(11) - 0.1))
    assert "closest to attention: reciprocal, not log2" in str(found)
    exact = {"attention": [1, 0.6, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.1]}
    with pytest.raises(rs.UsageError, match="attention"):
        rs.measures.tabulate_discounts(tables=exact)
    found = rs.measures.tabulate_discounts(tables={"textbook": exact["attention"]})
    assert (found.closest.name, found.closest.error.rmse) == ("textbook", 0)


def test_a_table_that_ends_is_compared_as_far_as_it_goes():
    found = rs.measures.tabulate_discounts(5, tables={"mine": [2, 1]})
    mine = found.curves[-1]
    assert mine.weights == (1, 0.5)
    assert (mine.error.ranks, mine.error.rank) == (2, 2)
    assert mine.error.rmse == pytest.approx(math.sqrt((0.5 - 0.6) ** 2 / 2))
    assert list(map(math.isnan, found.column("mine"))) == [False, False, True, True, True]
    assert found.closest.name == "reciprocal"
    assert found.errors.column("discount")[-1] == "mine"


def test_a_constant_factor_makes_no_other_curve():
    assert rs.measures.tabulate_discounts().alike == (("log2", "log(base=e)"),)
    doubled = {"doubled": [2 / rank for rank in range(1, 11)]}
    assert ("reciprocal", "doubled") in rs.measures.tabulate_discounts(tables=doubled).alike


GRADES = [[random.Random(seed).randrange(5) for _ in range(1 + seed % 40)] for seed in range(300)]


@pytest.mark.parametrize("base", [1.5, math.e, 10])
def test_the_base_of_the_logarithm_cancels_in_ndcg(base):
    lists = rs.Rankings.from_lists(GRADES)
    wanted = [nDCG @ 10, nDCG(discount="log", base=base) @ 10]
    found = lists.evaluate(wanted)
    # Each term is off by at most a few units in the last place.
    one, other = (found.per_query(measure) for measure in wanted)
    assert other.tolist() == pytest.approx(one.tolist(), rel=1e-14)


@pytest.mark.parametrize("factor", [0.3, 7])
def test_a_constant_factor_cancels_in_ndcg(factor):
    weights = [1 / rank**1.5 for rank in range(1, 11)]
    lists = rs.Rankings.from_lists(GRADES)
    wanted = [nDCG(discount=[each * by for each in weights]) @ 10 for by in (1, factor)]
    found = lists.evaluate(wanted)
    one, other = (found.per_query(measure) for measure in wanted)
    assert other.tolist() == pytest.approx(one.tolist(), rel=1e-14)


def test_the_base_of_jk_does_not_cancel():
    found = {base: rs.ndcg([0, 1, 1], discount="jk", base=base) for base in (2, 3)}
    assert found[2] == (1 + 1 / math.log2(3)) / (1 + 1)
    assert found[3] == (1 + 1) / (1 + 1)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"ranks": 0}, "bad_parameter"),
        ({"ranks": 10_001}, "bad_parameter"),
        ({"ranks": 2.5}, "bad_parameter"),
        ({"bases": [1]}, "bad_parameter"),
        ({"powers": [0]}, "bad_parameter"),
        ({"tables": {"mine": []}}, "bad_parameter"),
        ({"tables": {"mine": [0, 1]}}, "bad_parameter"),
        ({"tables": {"log2": [1]}}, "same_name"),
        ({"tables": {"rank": [1]}}, "same_name"),
        ({"powers": [1, 1.0]}, "same_name"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, code):
    with pytest.raises(rs.UsageError) as refused:
        rs.measures.tabulate_discounts(**settings)
    assert refused.value.code == code
