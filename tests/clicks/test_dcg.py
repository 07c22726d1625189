"""DCG of a new ranker from the clicks on the rankings of an old one."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rankscope as rs

LOOKS = [1.0, 0.5, 0.25]
RELEVANCE = [0.2, 0.9, 0.5]
"""The probability that each document is relevant, in the order of the old ranker."""
NEW = [3, 1, 2]
DCG = sum(worth / math.log2(1 + rank) for worth, rank in zip(RELEVANCE, NEW, strict=True))


def make_log(count: int, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    rank = np.tile([1, 2, 3], count)
    click = draw.random(3 * count) < np.array(LOOKS)[rank - 1] * np.array(RELEVANCE)[rank - 1]
    return {
        "query_id": np.repeat(np.arange(count), 3),
        "rank": rank,
        "new_rank": np.tile(NEW, count),
        "click": click.astype(int),
        "guess": np.tile([0.5, 0.1, 0.7], count),
    }


LOG = make_log(1000)


def value_of(found: rs.Table, method: str) -> float:
    value = found.to_dict()[method]["value"]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize("method", ["ips", "snips", "dr"])
def test_the_expectation_over_all_clicks_is_dcg(method: str) -> None:
    total = 0.0
    for clicks in product([0, 1], repeat=3):
        chance = math.prod(
            look * worth if click else 1 - look * worth
            for click, look, worth in zip(clicks, LOOKS, RELEVANCE, strict=True)
        )
        log = {**make_log(1), "click": clicks}
        found = rs.dcg_from_clicks(log, examination=LOOKS, predicted="guess")
        total += chance * value_of(found, method)
    assert total == pytest.approx(DCG, rel=1e-12)


def test_the_expectation_over_random_rankings_is_dcg() -> None:
    # The old ranker shows two of three documents: either of the orders below, by chance.
    orders = {(1, 2, None): 0.7, (None, 1, 2): 0.3}
    expected = [0.7 * LOOKS[0], 0.7 * LOOKS[1] + 0.3 * LOOKS[0], 0.3 * LOOKS[1]]
    totals = {"ips": 0.0, "dr": 0.0}
    for (ranks, chance), clicks in product(orders.items(), product([0, 1], repeat=3)):
        looks = [0 if rank is None else LOOKS[rank - 1] for rank in ranks]
        likely = math.prod(
            look * worth if click else 1 - look * worth
            for click, look, worth in zip(clicks, looks, RELEVANCE, strict=True)
        )
        if likely == 0:
            continue
        log = {
            "query_id": ["q"] * 3,
            "rank": pd.array(ranks, dtype="Int64"),
            "new_rank": NEW,
            "click": clicks,
            "p": expected,
            "guess": [0.3, 0.3, 0.9],
        }
        found = rs.dcg_from_clicks(
            pd.DataFrame(log), examination=LOOKS, propensity="p", predicted="guess"
        )
        for method in totals:
            totals[method] += chance * likely * value_of(found, method)
    assert totals == pytest.approx({"ips": DCG, "dr": DCG}, rel=1e-12)


def test_the_old_ranker_has_the_dcg_of_its_clicks() -> None:
    found = rs.dcg_from_clicks(LOG, examination=LOOKS)
    discounts = 1 / np.log2(1 + LOG["rank"])
    looks = np.array(LOOKS)[LOG["rank"] - 1]
    assert found.logged == pytest.approx((discounts * LOG["click"] / looks).sum() / 1000, rel=1e-12)
    same = rs.dcg_from_clicks({**LOG, "new_rank": LOG["rank"]}, examination=LOOKS)
    assert same.change == pytest.approx(0, abs=1e-12)
    assert same.logged == found.logged


def test_with_examination_as_discount_the_value_is_the_number_of_clicks() -> None:
    same = {**LOG, "new_rank": LOG["rank"]}
    found = rs.dcg_from_clicks(same, examination=LOOKS, discount=LOOKS)
    assert found.value == pytest.approx(LOG["click"].sum() / 1000, rel=1e-12)


def test_ranks_below_the_cutoff_count_nothing() -> None:
    found = rs.dcg_from_clicks(LOG, examination=LOOKS, k=1)
    clicks = LOG["click"][LOG["new_rank"] == 1]
    assert value_of(found, "ips") == pytest.approx(clicks.sum() / 0.5 / 1000, rel=1e-12)


@pytest.mark.parametrize("options", [{"clip": 2}, {}])
def test_a_click_counts_at_most_the_clip_of_which_10_is_the_default(
    options: dict[str, Any],
) -> None:
    looks = [1.0, 0.25, 0.05]
    found = rs.dcg_from_clicks(LOG, examination=looks, **options)
    weights = np.minimum(1 / np.array(looks), options.get("clip", 10))[LOG["rank"] - 1]
    terms = LOG["click"] * weights / np.log2(1 + LOG["new_rank"])
    assert value_of(found, "clipped") == pytest.approx(terms.sum() / 1000, rel=1e-12)
    assert math.isnan(float(found.to_dict()["clipped"]["upper"] or 0))


def test_an_estimated_examination_widens_the_intervals() -> None:
    draw = np.random.default_rng(5)
    rank = np.repeat([1, 2, 3], 3000)
    click = draw.random(9000) < 0.4 * np.array(LOOKS)[rank - 1]
    curve = rs.estimate_examination({"rank": rank, "click": click})
    known = rs.dcg_from_clicks(LOG, examination=curve.weights)
    found = rs.dcg_from_clicks(LOG, examination=curve)
    assert found.value == known.value
    assert found.lower < known.lower < known.upper < found.upper
    assert found.change_lower < known.change_lower < known.change_upper < found.change_upper


def test_documents_that_the_log_does_not_show_are_counted() -> None:
    shown = LOG["rank"] < 3
    log = pd.DataFrame({**LOG, "click": LOG["click"] * shown})
    log["rank"] = log["rank"].where(shown).astype("Int64")
    found = rs.dcg_from_clicks(log, examination=LOOKS, predicted="guess")
    discounts = [1 / math.log2(1 + rank) for rank in NEW]
    assert found.unsupported == pytest.approx(discounts[2] / sum(discounts))
    assert "isn't in the log" in found.reason
    assert math.isnan(found.upper)
    ips = found.to_dict()["ips"]
    assert ips["value"] == pytest.approx(DCG - discounts[2] * RELEVANCE[2], abs=0.1)
    assert isinstance(ips["upper"], float)
    assert math.isnan(ips["upper"])
    assert not math.isnan(float(ips["lower"] or 0))


def test_a_small_log_gets_no_interval() -> None:
    found = rs.dcg_from_clicks(make_log(20), examination=LOOKS)
    assert "an interval needs 100" in found.reason
    assert math.isnan(found.lower)


MISTAKES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a query of many searches": ({"query_id": ["coffee"] * 3000}, {}, "bad_rank"),
    "two at one new rank": ({"new_rank": [1] * 3000}, {}, "bad_rank"),
    "rank 0": ({"rank": [0] * 3000}, {}, "bad_rank"),
    "no rank": ({"rank": [None] * 3000, "click": [0] * 3000}, {}, "bad_rank"),
    "clicks on what was not shown": (
        {"rank": [None] * 3000, "click": [1] * 3000},
        {},
        "bad_click",
    ),
    "two clicks": ({"click": [2] * 3000}, {}, "bad_click"),
    "a short examination": ({}, {"examination": [1, 0.5]}, "bad_parameter"),
    "unseen ranks": ({}, {"examination": [1, 0, 0.5]}, "bad_parameter"),
    "predicted grades": ({"guess": [3] * 3000}, {"predicted": "guess"}, "bad_propensity"),
    "propensity 0": ({"guess": [0] * 3000}, {"propensity": "guess"}, "bad_propensity"),
    "dr alone": ({}, {"method": "dr"}, "bad_parameter"),
    "k 0": ({}, {"k": 0}, "bad_parameter"),
    "clip 0": ({}, {"clip": 0}, "bad_parameter"),
    "level 95": ({}, {"level": 95}, "bad_interval"),
    "no column": ({}, {"new_rank": "rank_b"}, "columns"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_meant_is_refused(mistake: str) -> None:
    columns, options, code = MISTAKES[mistake]
    with pytest.raises(rs.RankscopeError) as refused:
        rs.dcg_from_clicks({**LOG, **columns}, **{"examination": LOOKS, **options})
    assert refused.value.code == code
    assert refused.value.hint


def test_lists_that_are_all_alike_get_no_interval() -> None:
    # Every search clicks rank 1 and nothing else, which says nothing about how searches vary.
    found = rs.dcg_from_clicks({**LOG, "click": LOG["rank"] == 1}, examination=LOOKS)
    assert "the same value" in found.reason
    assert all(map(math.isnan, (found.lower, found.upper, *found.logged_ends)))


def test_examination_by_name_is_the_list_of_its_weights() -> None:
    named = rs.dcg_from_clicks(LOG, examination="log2")
    listed = rs.dcg_from_clicks(LOG, examination=[1 / math.log2(1 + rank) for rank in (1, 2, 3)])
    assert named.value == pytest.approx(listed.value, rel=1e-12)


@pytest.mark.parametrize(
    ("examination", "hint"),
    [
        ([100, 50, 25], "divide percentages by 100"),
        ({1: 1, 2: 0.5, 3: 0.25}, "write [examination[rank] for rank in sorted(examination)]"),
    ],
)
def test_examination_that_is_no_list_of_shares_is_refused(
    examination: list[float], hint: str
) -> None:
    with pytest.raises(rs.UsageError) as refused:
        rs.dcg_from_clicks(LOG, examination=examination)
    assert refused.value.hint == hint


def test_a_cutoff_is_no_truth_value() -> None:
    with pytest.raises(rs.UsageError, match="found True"):
        rs.dcg_from_clicks(LOG, examination=LOOKS, k=True)
