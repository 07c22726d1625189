"""How often ranks are looked at, from logs of every kind."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import nDCG

from tests.parity.real import DATA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG = {
    "position": [1, 2, 1, 2, 2, 1, 3, 2, 3, 3, 3, 3],
    "click": [1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0],
    "chance": [0.5, 0.5, 0.25, 0.5, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
}
RATES = [2 / 3, 1 / 4, 1 / 5]
WAYS: dict[str, Callable[[dict[str, list[float]]], object]] = {
    "mapping": dict,
    "arrays": lambda log: {name: np.array(column) for name, column in log.items()},
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [int, bool])
def test_rates_are_clicks_by_impressions(way: str, kind: type) -> None:
    curve = rs.estimate_examination(WAYS[way](LOG | {"click": [*map(kind, LOG["click"])]}))
    assert curve.column("impressions") == (3, 4, 5)
    assert curve.column("clicks") == (2, 1, 1)
    assert list(curve.column("rate")) == RATES
    assert curve.weights == tuple(rate / RATES[0] for rate in RATES)
    assert curve.column("effective") == (3, 4, 5)
    assert (curve.lower[0], curve.upper[0]) == (1, 1)
    assert curve.level == 0.95
    assert not curve.is_weighted


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_logs_are_read_from_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log.{suffix}"
    frame = pl.DataFrame(LOG)
    writers = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}
    getattr(frame, writers[suffix])(path)
    for log in (path, str(path)):
        found = rs.estimate_examination(log, propensity="chance")
        assert found.to_dict() == rs.estimate_examination(LOG, propensity="chance").to_dict()


def test_impressions_weigh_by_their_inverse_propensity() -> None:
    curve = rs.estimate_examination(LOG, propensity="chance")
    assert curve.column("rate")[0] == (2 + 4) / (2 + 4 + 1)
    assert curve.column("effective")[0] == (2 + 4 + 1) ** 2 / (4 + 16 + 1)
    assert curve.column("clicks")[0] == 2
    assert curve.is_weighted
    assert "inverse propensity" in str(curve)


def test_one_propensity_for_all_changes_nothing() -> None:
    even = LOG | {"chance": [0.125] * len(LOG["click"])}
    plain, weighed = (
        rs.estimate_examination(LOG),
        rs.estimate_examination(even, propensity="chance"),
    )
    for name in plain.names:
        assert weighed.column(name) == pytest.approx(plain.column(name), rel=1e-12)


def test_propensities_undo_the_choices_of_a_policy() -> None:
    # Good documents are mostly put at rank 1, so that clicks alone make rank 2 look unseen.
    draw = np.random.default_rng(7)
    count, looks, worth = 200_000, np.array([1.0, 0.5]), np.array([0.4, 0.1])
    rank = draw.integers(2, size=count)
    chance_of_good = np.where(rank == 0, 0.8, 0.2)
    is_good = draw.random(count) < chance_of_good
    click = draw.random(count) < looks[rank] * worth[np.where(is_good, 0, 1)]
    log = {
        "rank": rank + 1,
        "click": click,
        "propensity": np.where(is_good, chance_of_good, 1 - chance_of_good),
    }
    naive = rs.estimate_examination(log)
    expected = 0.5 * (0.2 * 0.4 + 0.8 * 0.1) / (0.8 * 0.4 + 0.2 * 0.1)
    assert naive.weights[1] == pytest.approx(expected, abs=0.01)
    weighed = rs.estimate_examination(log, propensity="propensity")
    assert weighed.weights[1] == pytest.approx(0.5, abs=0.02)
    assert weighed.lower[1] < 0.5 < weighed.upper[1]


def test_ranks_below_those_asked_for_are_left_out() -> None:
    assert rs.estimate_examination(LOG, ranks=2).ranks == (1, 2)
    assert rs.estimate_examination(LOG, ranks=9).ranks == (1, 2, 3)


def test_a_curve_is_a_discount() -> None:
    curve = rs.estimate_examination(LOG)
    one, two, three = curve.weights
    assert rs.ndcg([0, 1, 1], discount=curve.weights, k=3) == (two + three) / (one + two)
    measure = nDCG(discount=curve.weights) @ 3
    assert rs.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, measure)[measure] == two


def test_ranks_that_differ_are_named() -> None:
    many = {
        "rank": [1] * 1000 + [2] * 1000 + [3] * 1000,
        "click": [1] * 500 + [0] * 500 + [1] * 100 + [0] * 900 + [1] * 499 + [0] * 501,
    }
    curve = rs.estimate_examination(many)
    assert curve.differs == (2,)
    assert "ranks that differ significantly from rank 1: 2\n" in str(curve)
    assert rs.estimate_examination(LOG).differs == ()
    assert "differ significantly from rank 1: none" in str(rs.estimate_examination(LOG))


MISTAKES: dict[str, tuple[dict[str, list[object]], str, int | None]] = {
    "no column": ({"rank": [1]}, "columns", None),
    "two columns of ranks": ({"rank": [1], "position": [1], "click": [1]}, "columns", None),
    "rank 0": ({"rank": [1, 0], "click": [1, 0]}, "bad_rank", 2),
    "half a rank": ({"rank": [1, 1.5], "click": [1, 0]}, "bad_rank", 2),
    "a deep rank": ({"rank": [10_001], "click": [1]}, "bad_rank", 1),
    "two clicks": ({"rank": [1, 1], "click": [1, 2]}, "bad_click", 2),
    "no click": ({"rank": [1, 1], "click": [1, None]}, "missing_relevance", 2),
    "a word": ({"rank": [1, 1], "click": [1, "yes"]}, "rel_not_number", 2),
    "no rank": ({"rank": [1, None], "click": [1, 0]}, "missing_score", 2),
    "nothing": ({"rank": [], "click": []}, "empty_input", None),
    "a gap": ({"rank": [1, 3], "click": [1, 1]}, "rank_gap", None),
    "ranks from 2 on": ({"rank": [2], "click": [1]}, "rank_gap", None),
    "no clicks at rank 1": ({"rank": [1, 2], "click": [0, 1]}, "no_clicks", None),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_log_that_cannot_be_meant_is_refused(mistake: str) -> None:
    log, code, line = MISTAKES[mistake]
    with pytest.raises(rs.InputError) as refused:
        rs.estimate_examination(log)
    assert (refused.value.code, refused.value.line) == (code, line)
    assert refused.value.hint


@pytest.mark.parametrize("chance", [0, -0.5, 1.5])
def test_a_propensity_is_a_probability(chance: float) -> None:
    log = {"rank": [1, 1], "click": [1, 0], "p": [0.5, chance]}
    with pytest.raises(rs.InputError) as refused:
        rs.estimate_examination(log, propensity="p")
    assert (refused.value.code, refused.value.line) == ("bad_propensity", 2)


def test_a_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("rank,click\n1,1\n\n2,5\n")
    with pytest.raises(rs.InputError) as refused:
        rs.estimate_examination(path)
    assert refused.value.summary == f"{path}:4: expected clicks as 0 or 1, found 5"


@pytest.mark.parametrize("setting", [{"level": 0}, {"level": 1}, {"ranks": 0}, {"ranks": 10_001}])
def test_settings_outside_their_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(rs.UsageError):
        rs.estimate_examination(LOG, **setting)


@pytest.mark.parametrize("policy", ["random", "bts"])
def test_the_open_bandit_data_are_estimated(policy: str) -> None:
    path = DATA / "open_bandit" / f"{policy}-all.csv"
    if not path.is_file():
        pytest.skip(f"no real data: {path} is absent (RANKSCOPE_DATA names its folder)")
    shown, clicked, weight, weighed = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    with path.open() as file:
        for row in csv.DictReader(file):
            rank, click, by = (
                int(row["position"]),
                int(row["click"]),
                1 / float(row["propensity_score"]),
            )
            shown[rank] += 1
            clicked[rank] += click
            weight[rank] += by
            weighed[rank] += by * click
    plain = rs.estimate_examination(path)
    assert plain.column("impressions") == tuple(shown[rank] for rank in (1, 2, 3))
    assert plain.column("rate") == tuple(clicked[rank] / shown[rank] for rank in (1, 2, 3))
    found = rs.estimate_examination(path, propensity="propensity_score")
    expected = [weighed[rank] / weight[rank] for rank in (1, 2, 3)]
    assert found.column("rate") == pytest.approx(expected, rel=1e-9)
    if policy == "random":  # every document has one chance
        assert found.weights == pytest.approx(plain.weights, rel=1e-9)
        # As docs/discounts.md has it.
        assert [round(weight, 2) for weight in plain.weights] == [1, 1.05, 0.86]
        assert [round(end, 1) for end in plain.lower[1:] + plain.upper[1:]] == [0.5, 0.4, 2.2, 1.9]
        assert sum(clicked.values()) == 38
    # A few dozen clicks on three places beside each other tell no rank from another.
    assert found.differs == ()


def log_of_a_ranker(count: int, skill: float, seed: int) -> dict[str, object]:
    """A log of three ranks, in which better documents are likelier at better ranks."""
    draw = np.random.default_rng(seed)
    quality = np.linspace(2, -2, 30)
    worth = 0.5 / (1 + np.exp(1 - quality))
    chances = np.exp(skill * np.outer([1, 0, -1], quality))
    chances /= chances.sum(axis=1, keepdims=True)
    rank = draw.integers(3, size=count)
    doc = (draw.random(count)[:, None] > chances.cumsum(axis=1)[rank]).sum(axis=1)
    click = draw.random(count) < np.array(LOOKS)[rank] * worth[doc]
    return {"rank": rank + 1, "click": click, "chance": chances[rank, doc], "user": doc}


LOOKS = [1.0, 0.6, 0.4]


def test_a_small_effective_share_gets_no_interval() -> None:
    curve = rs.estimate_examination(log_of_a_ranker(3000, 1.9, 1), propensity="chance")
    shares = [
        effective / count
        for effective, count in zip(
            curve.array("effective"), curve.array("impressions"), strict=True
        )
    ]
    assert min(shares) < 0.1
    assert set(curve.refused) == {1, 2, 3}
    assert all(np.isnan([*curve.lower[1:], *curve.upper[1:]]))
    assert curve.differs == ()
    assert "no interval of rank 1" in str(curve)


def test_without_an_interval_of_rank_1_no_rank_has_one() -> None:
    log = {
        "rank": [1] * 50 + [2] * 4000,
        "click": [1, 0] * 25 + [1, 0] * 2000,
        "chance": [0.5, 0.25] * 25 + [0.5, 0.4] * 2000,
    }
    curve = rs.estimate_examination(log, propensity="chance")
    assert curve.refused[2] == f"rank 1 has none: {curve.refused[1]}"
    assert np.isnan(curve.upper[1])


def test_repeated_impressions_of_a_user_add_nothing() -> None:
    draw = np.random.default_rng(0)
    rank = draw.integers(1, 4, size=3000)
    once = {"rank": rank, "click": draw.random(3000) < 0.3 / rank}
    many = {name: np.tile(column, 5) for name, column in once.items()}
    many["user"] = np.tile(np.arange(3000), 5)
    alone = rs.estimate_examination(once)
    found = rs.estimate_examination(many, cluster="user")
    blind = rs.estimate_examination(many)
    assert (found.weights, found.clusters) == (pytest.approx(alone.weights), 3000)
    assert found.lower == pytest.approx(alone.lower, rel=2e-3)
    assert found.upper == pytest.approx(alone.upper, rel=2e-3)
    assert blind.upper[2] - blind.lower[2] < 0.5 * (found.upper[2] - found.lower[2])


def test_few_clusters_get_no_interval() -> None:
    log = log_of_a_ranker(9000, 0, 1)
    log["user"] = np.arange(9000) % 20
    assert "clusters" in rs.estimate_examination(log, cluster="user").refused[2]


def test_clusters_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    frame = pl.DataFrame(log_of_a_ranker(3000, 0.1, 1)).with_columns(pl.col("click").cast(pl.Int8))
    frame = frame.with_columns(user=pl.int_range(3000) % 500)
    frame.write_csv(path)
    found = rs.estimate_examination(path, propensity="chance", cluster="user")
    expected = rs.estimate_examination(frame, propensity="chance", cluster="user")
    assert found.to_dict() == expected.to_dict()
    assert found.clusters == 500


@pytest.mark.parametrize("method", ["rates", "harvest"])
def test_a_log_of_clicks_only_is_refused(method: str) -> None:
    log = {"rank": [1, 2] * 60, "query_id": [*range(60)] * 2, "doc_id": ["a"] * 120}
    with pytest.raises(rs.FormatError, match="found clicks only") as refused:
        rs.estimate_examination({**log, "click": [1] * 120}, method=method)
    assert refused.value.code == "bad_click"
