"""What a new policy would have earned, from logs of every kind."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope.clicks import evaluate_off_policy
from rankscope.clicks.estimators import Estimator, Reliability, conclude
from rankscope.clicks.off_policy import _read_mapping
from scipy import stats

from dev.simulate.clicks.worlds import make_bandit
from tests.parity.real import find
from tests.refusals import refuses, refuses_if
from tests.tabular import write_table

LOGGED = {"a": 0.5, "b": 0.3, "c": 0.2}
TARGET = {"a": 0.1, "b": 0.2, "c": 0.7}
RATES = {"a": 0.2, "b": 0.5, "c": 0.25}
VALUE = sum(TARGET[item] * RATES[item] for item in TARGET)


def make_log(count, seed=0):
    """A log of the policy LOGGED."""
    draw = np.random.default_rng(seed)
    items = draw.choice([*LOGGED], size=count, p=[*LOGGED.values()])
    return {
        "item": items,
        "click": (draw.random(count) < np.vectorize(RATES.get)(items)).astype(int),
        "propensity": np.vectorize(LOGGED.get)(items),
        "target": np.vectorize(TARGET.get)(items),
        "user": draw.integers(count // 5, size=count),
    }


LOG = make_log(2000)
WEIGHTS = LOG["target"] / LOG["propensity"]


def expect(count, estimate):
    """The expectation of an estimate over all logs with a number of rows."""
    total = 0.0
    for rows in product([(item, click) for item in LOGGED for click in (0, 1)], repeat=count):
        chance = math.prod(
            LOGGED[item] * (RATES[item] if click else 1 - RATES[item]) for item, click in rows
        )
        items = [item for item, _ in rows]
        log = {
            "item": items,
            "click": [click for _, click in rows],
            "propensity": [LOGGED[item] for item in items],
            "target": [TARGET[item] for item in items],
            "guess": [{"a": 0.9, "b": 0.1, "c": 0.4}[item] for item in items],
            "guesses": [0.1 * 0.9 + 0.2 * 0.1 + 0.7 * 0.4] * count,
        }
        total += chance * estimate(log)
    return total


def value_of(found, method):
    value = found.to_dict()[method]["value"]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("rows", "arguments", "estimator"),
    [
        (2, {"target": "target"}, "ips"),
        # Wrong predictions, and those from the log.
        (2, {"target": "target", "predicted": "guess", "predicted_target": "guesses"}, "dr"),
        (3, {"target": TARGET}, "dr"),
    ],
)
def test_estimates_are_unbiased(rows, arguments, estimator):
    found = expect(rows, lambda log: value_of(evaluate_off_policy(log, **arguments), estimator))
    assert found == pytest.approx(VALUE, rel=1e-12)


def test_doubly_robust_is_right_with_right_predictions_and_wrong_propensities():
    count = 40_000
    log = make_log(count, seed=3)
    log["propensity"] = np.full(count, 1 / 3)
    log["guess"] = np.vectorize(RATES.get)(log["item"])
    log["guesses"] = np.full(count, VALUE)
    found = evaluate_off_policy(log, target="target", predicted="guess", predicted_target="guesses")
    assert found.value == pytest.approx(VALUE, abs=0.01)
    assert abs(value_of(found, "ips") - VALUE) > 0.05
    assert "mean weight" in found.reason


def test_values_are_those_of_the_formulas():
    found = evaluate_off_policy(LOG, target="target", clip=2)
    rewards = LOG["click"]
    expected = {
        "ips": (WEIGHTS * rewards).mean(),
        "clipped": (np.minimum(WEIGHTS, 2) * rewards).mean(),
        "snips": (WEIGHTS * rewards).sum() / WEIGHTS.sum(),
    }
    for method, value in expected.items():
        assert value_of(found, method) == pytest.approx(value, rel=1e-12)
    assert found.logged == pytest.approx(rewards.mean(), rel=1e-12)
    assert found.mean_weight == pytest.approx(WEIGHTS.mean(), rel=1e-12)
    assert found.effective == pytest.approx(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum(), rel=1e-12)
    assert found.to_dict()["ips"]["largest share"] == pytest.approx(3.5 / WEIGHTS.sum(), rel=1e-12)
    assert found.change == pytest.approx(found.value - found.logged, rel=1e-12)


def test_the_log_evaluates_itself_as_what_it_earned():
    found = evaluate_off_policy(LOG, target="propensity")
    for method in ("ips", "clipped", "snips"):
        row = found.to_dict()[method]
        assert row["value"] == pytest.approx(LOG["click"].mean(), rel=1e-12)
        assert row["change"] == pytest.approx(0, abs=1e-12)
        assert row["effective"] == pytest.approx(2000)
    assert (found.lower, found.upper) == pytest.approx(found.logged_ends, rel=1e-9)


def test_a_mapping_a_column_and_a_chosen_item_say_the_same():
    always = {"a": 0.0, "b": 0.0, "c": 1.0}
    log = LOG | {"pick": ["c"] * 2000, "chance": (LOG["item"] == "c").astype(float)}
    ways = [
        evaluate_off_policy(log, target=always),
        evaluate_off_policy(log, target="chance"),
        evaluate_off_policy(log, chosen="pick"),
    ]
    values = [value_of(found, "snips") for found in ways]
    is_shown = LOG["item"] == "c"
    assert values == pytest.approx([LOG["click"][is_shown].mean()] * 3, rel=1e-12)


def test_the_predictions_of_a_mapping_leave_out_the_own_cluster():
    log = {key: column[:60] for key, column in LOG.items()}
    found = value_of(evaluate_off_policy(log, target=TARGET, cluster="user"), "dr")
    total = 0.0
    for at in range(60):
        others = log["user"] != log["user"][at]
        rate = log["click"][others].mean()
        predicted = {
            item: (log["click"][others & (log["item"] == item)].sum() + rate)
            / ((others & (log["item"] == item)).sum() + 1)
            for item in TARGET
        }
        item = log["item"][at]
        weight = TARGET[item] / LOGGED[item]
        total += sum(TARGET[each] * predicted[each] for each in TARGET)
        total += weight * (log["click"][at] - predicted[item])
    assert found == pytest.approx(total / 60, rel=1e-12)


def test_repeated_rows_of_a_user_add_nothing():
    once = evaluate_off_policy(LOG, target="target")
    log = {name: np.tile(column, 4) for name, column in LOG.items() if name != "user"}
    log["user"] = np.tile(np.arange(2000), 4)
    blind = evaluate_off_policy(log, target="target")
    found = evaluate_off_policy(log, target="target", cluster="user")
    assert found.clusters == 2000
    assert (found.lower, found.upper) == pytest.approx((once.lower, once.upper), rel=1e-9)
    assert (found.change_lower, found.change_upper) == pytest.approx(
        (once.change_lower, once.change_upper), rel=1e-9
    )
    assert blind.upper - blind.lower < 0.55 * (found.upper - found.lower)


def test_rows_without_a_cluster_are_clusters_of_their_own():
    none = {**LOG, "user": pl.Series([None] * 2000, dtype=pl.String)}
    found = evaluate_off_policy(none, target="target", cluster="user")
    once = evaluate_off_policy(LOG, target="target")
    assert found.clusters == 2000
    assert (found.lower, found.upper) == pytest.approx((once.lower, once.upper), rel=1e-12)


WAYS = {
    "mapping": dict,
    "lists": lambda log: {name: column.tolist() for name, column in log.items()},
    "booleans": lambda log: {**log, "click": log["click"].astype(bool)},
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("way", WAYS)
def test_tables_of_every_library_are_read(way):
    options = {"target": TARGET, "cluster": "user"}
    expected = evaluate_off_policy(LOG, **options).to_dict()
    assert evaluate_off_policy(WAYS[way](LOG), **options).to_dict() == expected


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_logs_are_read_from_files(tmp_path, suffix):
    path = write_table(LOG, tmp_path / f"log.{suffix}")
    options = {"target": TARGET, "cluster": "user"}
    expected = evaluate_off_policy(LOG, **options).to_dict()
    assert evaluate_off_policy(path, **options).to_dict() == expected


def test_the_order_of_rows_changes_nothing():
    order = np.random.default_rng(1).permutation(2000)
    mixed = {name: column[order] for name, column in LOG.items()}
    one, other = (
        evaluate_off_policy(log, target=TARGET, cluster="user").to_dict() for log in (LOG, mixed)
    )
    for method, row in one.items():
        for name, cell in row.items():
            assert other[method][name] == (
                pytest.approx(cell, rel=1e-9, abs=1e-12) if isinstance(cell, float) else cell
            )


def test_a_discount_sums_the_positions_of_a_list():
    log = {**LOG, "position": np.arange(2000) % 2 + 1}
    found = evaluate_off_policy(log, target="target", discount="log2", examination=[1, 0.5])
    first, second = ((WEIGHTS * LOG["click"])[log["position"] == rank].mean() for rank in (1, 2))
    expected = first + second / math.log2(3) / 0.5
    assert value_of(found, "ips") == pytest.approx(expected, rel=1e-12)


def test_too_few_effective_rows_get_no_interval():
    small = {name: column[:150] for name, column in LOG.items()}
    found = evaluate_off_policy(small, target="target")
    assert found.effective < 100
    assert math.isnan(found.lower)
    assert math.isnan(found.upper)
    assert math.isnan(found.change_lower)
    assert found.reason == (
        f"150 rows count as much as {found.effective:,.1f} with equal weights, and an interval "
        "needs 100"
    )
    assert found.reason in str(found)
    assert "too small" in str(found)


def test_too_few_clicks_get_no_interval():
    rare = {**LOG, "click": (np.arange(2000) < 9).astype(int)}
    found = evaluate_off_policy(rare, target="target")
    assert found.reason.startswith("clicks, or rows without one, count as much as")


def test_heavy_rows_without_clicks_do_not_make_an_interval():
    # The old policy rarely shows what the new one always does, and no such row has a click yet.
    log = {
        "click": np.r_[np.ones(500), np.zeros(2500)],
        "propensity": np.r_[np.full(2850, 0.95), np.full(150, 0.05)],
        "target": np.r_[np.full(2850, 0.05), np.full(150, 0.95)],
    }
    found = evaluate_off_policy(log, target="target")
    assert found.effective > 100
    assert found.to_dict()["ips"]["rewarded"] < 10
    assert math.isnan(found.upper)


def test_too_few_clusters_get_no_interval():
    few = {**LOG, "user": np.arange(2000) % 29}
    found = evaluate_off_policy(few, target="target", cluster="user")
    assert "clusters count as much as" in found.reason


def test_weights_that_cannot_have_the_mean_1_get_no_interval():
    wrong = {**LOG, "propensity": LOG["propensity"] / 2}
    found = evaluate_off_policy(wrong, target="target")
    assert found.reason.startswith("the mean weight is ")
    assert found.mean_weight > 1.9


def test_choices_that_the_log_never_shows_are_counted():
    log = {name: column[LOG["item"] != "c"] for name, column in LOG.items()}
    found = evaluate_off_policy(log, target=TARGET)
    assert found.unsupported == pytest.approx(0.7)
    assert any("never shows" in note for note in found.notes)
    assert found.reason
    # Nothing is known of item c, which is predicted to earn as much as the others.
    assert 0.1 < found.value < 0.5


def test_clipping_gives_a_lower_limit():
    found = evaluate_off_policy(LOG, target="target", clip=1, method="clipped")
    assert 0 < found.lower < found.value < VALUE
    assert math.isnan(found.upper)
    assert any("clipping takes away" in note for note in found.notes)
    assert "or more" in str(found)


def test_choices_that_the_log_hardly_shows_leave_a_lower_limit_alone():
    bandit = make_bandit("rare", 0.05, 0.2)
    log = bandit.draw(10_000, np.random.default_rng(1))
    found = evaluate_off_policy(log, target=dict(enumerate(bandit.target)), method="clipped")
    rows = found.to_dict()
    assert all("from few rows" in str(rows[method]["refused"]) for method in ("ips", "snips", "dr"))
    weights = np.minimum(log["target"] / log["propensity"], 10)
    assert found.clip == 10 < (log["target"] / log["propensity"]).max()
    assert found.value == pytest.approx((weights * log["click"]).mean(), rel=1e-12)
    assert 0.8 * bandit.value < found.lower < bandit.value
    assert found.change_lower > 0
    assert math.isnan(found.change_upper)


def test_rewards_below_0_have_no_lower_limit_by_clipping():
    found = evaluate_off_policy({**LOG, "click": LOG["click"] - 0.5}, target="target")
    assert "clipped" not in found.to_dict()
    assert found.lower < VALUE - 0.5 < found.upper


MISTAKES = {
    "no new policy": ({}, {"target": None}, "bad_parameter"),
    "two new policies": ({}, {"chosen": "item"}, "bad_parameter"),
    "scores as target": ({"target": LOG["target"] * 9}, {}, "bad_propensity"),
    "propensity 0": ({"propensity": LOG["propensity"] * 0}, {}, "bad_propensity"),
    "no propensity": ({"propensity": [None] + [0.5] * 1999}, {}, "not_numeric"),
    "no column": ({}, {"target": "pi"}, "columns"),
    "a mapping of scores": ({}, {"target": {"a": 3, "b": 1}}, "bad_propensity"),
    "an array": ({}, {"target": LOG["target"]}, "bad_parameter"),
    "one prediction": ({}, {"predicted": "target"}, "bad_parameter"),
    "dr without predictions": ({}, {"method": "dr"}, "bad_parameter"),
    "unknown method": ({}, {"method": "magic"}, "bad_policy"),
    "clip 0": ({}, {"clip": 0}, "bad_parameter"),
    "level 95": ({}, {"level": 95}, "bad_interval"),
    "no positions": ({}, {"discount": "log2"}, "columns"),
    "position 0": ({"position": [0] * 2000}, {"discount": "log2"}, "bad_rank"),
    "a gap": ({"position": [1, 3] * 1000}, {"discount": "log2"}, "rank_gap"),
    "a short discount": ({"position": [1, 2] * 1000}, {"discount": [1]}, "bad_parameter"),
    "unseen rank": ({"position": [1, 2] * 1000}, {"examination": [1, 0]}, "bad_parameter"),
    "a short column": ({"click": [1]}, {}, "column_length"),
    "words": ({"click": ["yes"] * 2000}, {}, "not_numeric"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_meant_is_refused(mistake):
    columns, options, code = MISTAKES[mistake]
    with refuses(rs.RankscopeError, code) as refused:
        evaluate_off_policy({**LOG, **columns}, **{"target": "target", **options})
    assert refused.value.hint


def test_an_empty_log_is_refused():
    with refuses(rs.InputError, "empty_input"):
        evaluate_off_policy({"click": [], "propensity": [], "target": []}, target="target")


def test_the_random_log_of_open_bandit_tells_what_the_other_policy_earned():
    folder = find("open_bandit")
    names = ["item_id", "position", "click", "propensity_score"]
    shown, earned = (
        pd.read_csv(folder / f"{policy}-all.csv", usecols=names) for policy in ("random", "bts")
    )
    target = earned["item_id"].value_counts(normalize=True).to_dict()
    found = evaluate_off_policy(shown, target=target, propensity="propensity_score")
    assert found.lower < earned["click"].mean() < found.upper
    weights = shown["item_id"].map(target) * 80
    assert value_of(found, "ips") == pytest.approx((weights * shown["click"]).mean(), rel=1e-9)
    assert not found.reason
    # The other way round, too few clicks are left.
    even = dict.fromkeys(range(80), 1 / 80)
    back = evaluate_off_policy(earned, target=even, propensity="propensity_score")
    assert math.isnan(back.upper)


def test_a_missing_column_is_named_as_the_argument_that_names_it():
    other = {"reward" if name == "click" else name: column for name, column in LOG.items()}
    with pytest.raises(rs.InputError) as refused:
        evaluate_off_policy(other, target="target")
    hint = "name the columns: reward='click', propensity='propensity', target='target'"
    assert refused.value.hint == hint
    items = {name: column for name, column in LOG.items() if name != "item"}
    with pytest.raises(rs.InputError) as refused:
        evaluate_off_policy(items, target=TARGET)
    assert "item='my_item'" in str(refused.value.hint)


@pytest.mark.parametrize("column", ["click", "guess", "guesses"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_reward_or_prediction_that_is_no_number_is_refused(column, value):
    log = {**LOG, "guess": [0.3] * 2000, "guesses": [0.3] * 2000}
    log[column] = [0.0, value, *log[column][2:]]
    with pytest.raises(
        rs.errors.FormatError, match=f"numbers in {column}, found {value:g} in row 2"
    ):
        evaluate_off_policy(log, target="target", predicted="guess", predicted_target="guesses")


@pytest.mark.parametrize("chance", [-0.5, math.nan, math.inf])
def test_a_probability_of_an_item_that_is_none_is_named(chance):
    with pytest.raises(rs.errors.FormatError, match=r"from 0 to 1, found .* of 'b'"):
        evaluate_off_policy(LOG, target={"b": chance})


def test_an_unknown_estimator_is_told_which_are_the_defaults():
    with pytest.raises(rs.UsageError) as refused:
        evaluate_off_policy(LOG, target=TARGET, method="direct")
    assert refused.value.hint == "leave it out for dr with predictions, and snips without"


def find_refusal(weights):
    """Whether a log of such weights has no interval because their mean isn't 1."""
    clicks = np.arange(len(weights)) % 4 < 2
    log = {"click": clicks, "propensity": [0.5] * len(weights), "target": weights / 2}
    found = evaluate_off_policy(log, target="target")
    return "the mean weight" in found.column("refused")[0]


@pytest.mark.parametrize(
    ("weight", "is_refused"),
    [
        (0.98995, True),
        (0.99, False),
        (0.99005, False),
        (1.00995, False),
        (1.01, False),
        (1.01005, True),
    ],
)
def test_a_mean_weight_is_refused_if_it_is_more_than_a_hundredth_from_1(weight, *, is_refused):
    # All weights are equal, so that their mean is certain.
    assert find_refusal(np.full(128, weight)) == is_refused


@pytest.mark.parametrize("side", [-1, 1])
def test_a_mean_weight_is_refused_if_its_interval_at_999_of_1000_leaves_out_1(side):
    spread, count = 0.25, 200
    half = stats.t.ppf(0.9995, count - 1) * spread / math.sqrt(count - 1)
    for times, is_refused in ((0.999, False), (1.001, True)):
        mean = 1 + side * (0.01 + half * times)
        weights = mean + spread * (-1.0) ** np.arange(count)
        assert find_refusal(weights) == is_refused


RELIABLE = Reliability(n=1000, effective=1000.0, heavy=1000.0, rewarded=1000.0, clusters=None)


@pytest.mark.parametrize(("times", "is_refused"), [(0.995, True), (1.005, False)])
def test_values_that_differ_by_rounding_are_the_same(times, *, is_refused):
    # The root of the sum of 100 squares is 10 times each: 1e-12 of the value, which is 2.
    influences = 2e-13 * times * (-1.0) ** np.arange(100)
    found = Estimator(value=2.0, influences=influences, floor=0.0, reliability=RELIABLE)
    concluded = conclude(found, found, None, 0.95, bounds=(-math.inf, math.inf))
    assert ("the same value" in concluded.reason) == is_refused


@pytest.mark.parametrize(("off", "is_refused"), [(0.995e-6, False), (1.005e-6, True)])
def test_probabilities_sum_up_to_1_within_a_millionth(off, *, is_refused):
    for total in (1 + off, 1 - off):
        chances = {"a": 0.5, "b": total - 0.5}
        with refuses_if(is_refused, rs.errors.FormatError, match="sum up to 1"):
            assert _read_mapping(chances) == chances
