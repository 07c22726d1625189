"""Runs under every discount: values, orders, exchanged pairs, and where DCG disagrees."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import nDCG
from rankscope.discounts.exchanges import correlate_orders, find_exchanged, order
from scipy.stats import kendalltau

from tests.parity.real import DATA

if TYPE_CHECKING:
    from rankscope.discounts.comparison import DiscountComparison

QRELS = {"q1": {"a": 1, "b": 1, "c": 1}}
AT_1 = {"q1": {"a": 4, "x": 3, "y": 2, "z": 1}}
AT_2_AND_3 = {"q1": {"x": 4, "b": 3, "c": 2, "y": 1}}


def compare() -> DiscountComparison:
    return rs.compare_discounts(QRELS, {"first": AT_1, "later": AT_2_AND_3}, nDCG @ 3)


def test_values_are_those_of_evaluate() -> None:
    found = compare()
    weights = {"log2": [1, 1 / math.log2(3), 1 / 2], "reciprocal": [1, 1 / 2, 1 / 3]}
    for name, (one, two, three) in weights.items():
        ideal = one + two + three
        assert found.to_dict()["first"][name] == one / ideal
        assert found.to_dict()["later"][name] == (two + three) / ideal
        assert found.dcg.to_dict()["later"][name] == two + three
    assert found.measure == "nDCG@3"
    assert found.to_pandas()["run"].tolist() == ["first", "later"]


def test_runs_that_change_places_are_named() -> None:
    found = compare()
    assert found.orders["log2"] == (("later",), ("first",))
    assert found.orders["reciprocal"] == (("first",), ("later",))
    (exchange,) = found.exchanges
    assert (exchange.discount, exchange.better, exchange.worse) == ("reciprocal", "first", "later")
    assert exchange.gap == pytest.approx((1 - 1 / 2 - 1 / 3) / (1 + 1 / 2 + 1 / 3))
    assert exchange.former == pytest.approx((1 / 2 - 1 / math.log2(3)) / (1.5 + 1 / math.log2(3)))
    assert found.tau.to_dict()["log2"]["reciprocal"] == -1
    assert found.tau.to_dict()["log2"]["linear"] == 1
    assert (
        "reciprocal: first is ahead of later by 0.0909; under log2 it is behind by 0.0614"
        in str(found)
    )


def test_an_order_that_all_discounts_share_is_written_once() -> None:
    runs = {"worse": {"q1": {"x": 2.0, "a": 1.0}}, "better": {"q1": {"a": 2.0, "b": 1.0}}}
    assert "under every discount: better > worse" in str(rs.compare_discounts(QRELS, runs))


def test_a_disagreement_of_dcg_and_ndcg_is_flagged() -> None:
    # The first run is perfect on the query with much to find, the second on the one with little.
    qrels = {"rich": {"a": 3, "b": 3, "c": 3}, "poor": {"d": 1}}
    much = {"rich": {"a": 3, "b": 2, "c": 1}, "poor": {"x": 1}}
    little = {"rich": {"x": 3, "y": 2, "a": 1}, "poor": {"d": 1}}
    found = rs.compare_discounts(qrels, {"much": much, "little": little})
    assert {each.discount for each in found.disagreements} == set(found.orders)
    assert {(each.by_ndcg, each.by_dcg) for each in found.disagreements} == {
        (("little",), ("much",))
    }
    assert "log2: the best run is little by nDCG, much by DCG" in str(found)
    assert compare().disagreements == ()


def test_one_run_has_values_and_no_order() -> None:
    found = rs.compare_discounts(QRELS, {"only": AT_1})
    assert found.orders["log2"] == (("only",),)
    assert "order" not in str(found)
    assert math.isnan(found.tau.to_dict()["log2"]["linear"])


def test_runs_of_one_value_are_together() -> None:
    assert order({"a": 0.1 + 0.2, "b": 0.3, "c": 0.5}) == (("c",), ("a", "b"))
    assert find_exchanged({"a": 1, "b": 1}, {"a": 1, "b": 2}) == []
    assert find_exchanged({"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 1, "c": 2}) == [
        ("a", "b"),
        ("a", "c"),
    ]


def test_tau_is_that_of_scipy() -> None:
    draw = random.Random(7)
    for _ in range(50):
        one, other = ({name: draw.randrange(6) for name in "abcdefgh"} for _ in range(2))
        expected = kendalltau([*one.values()], [*other.values()], variant="b").statistic
        assert correlate_orders(one, other) == pytest.approx(expected, abs=1e-15), (one, other)


def test_settings_of_the_measure_stay() -> None:
    measure = nDCG(gain="exp2", judged_only=True, ideal="retrieved") @ 2
    qrels = {"q1": {"a": 2, "b": 1}}
    run = {"q1": {"x": 3, "b": 2, "a": 1}}
    found = rs.compare_discounts(qrels, {"r": run}, measure).to_dict()["r"]
    assert found["reciprocal"] == (1 + 3 / 2) / (3 + 1 / 2)


@pytest.mark.parametrize("measure", ["AP", "DCG@10", "nDCG(discount='reciprocal')@10"])
def test_measures_without_a_free_discount_are_refused(measure: str) -> None:
    with pytest.raises(rs.MeasureError) as refused:
        rs.compare_discounts(QRELS, {"r": AT_1}, measure)
    assert refused.value.code == "bad_parameter"


def test_what_is_suspicious_is_noted() -> None:
    qrels = QRELS | {"q2": {"a": 1}}
    found = rs.compare_discounts(qrels, {"first": AT_1, "later": AT_2_AND_3})
    assert [(note.code, note.count) for note in found.notes] == [("n_missing", 1)]
    with pytest.raises(rs.InputError):
        rs.compare_discounts(qrels, {"first": AT_1}, strict=True)


def test_rankings_are_compared_as_runs_are() -> None:
    runs = {"first": AT_1, "later": AT_2_AND_3}
    rankings = {name: rs.Rankings.from_run(QRELS, run) for name, run in runs.items()}
    assert rs.compare_discounts(None, rankings, nDCG @ 3).to_dict() == compare().to_dict()
    table = {"qid": [1, 1, 1], "label": [0, 1, 1], "score": [3, 2, 1]}
    found = rs.compare_discounts(None, {"table": rs.Rankings.from_table(table)}, nDCG @ 3)
    assert found.to_dict()["table"]["reciprocal"] == (1 / 2 + 1 / 3) / (1 + 1 / 2)
    with pytest.raises(rs.UsageError) as refused:
        rs.compare_discounts(None, {"first": AT_1})
    assert refused.value.code == "usage"


def test_a_comparison_of_no_runs_is_refused() -> None:
    with pytest.raises(rs.UsageError):
        rs.compare_discounts(QRELS, {})


def test_further_down_the_runs_of_cast_change_places() -> None:
    folder = DATA / "cast21"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is absent (RANKSCOPE_DATA names its folder)")
    names = ("manual_bm25", "convdr_bert")
    runs = {name: folder / f"org_{name}.run" for name in names}
    found = rs.compare_discounts(folder / "cast21.qrels", runs, nDCG @ 100)
    (exchange,) = (each for each in found.exchanges if each.discount == "reciprocal")
    assert (exchange.better, exchange.worse) == ("convdr_bert", "manual_bm25")
    # As docs/discounts.md has it.
    assert (round(exchange.gap, 3), round(exchange.former, 3)) == (0.021, -0.001)
