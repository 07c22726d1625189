"""The numbers that LightGBM itself reported for its ranking example, from labels and scores."""

from __future__ import annotations

import csv
import json

import pytest
import rankscope
from rankscope import AP, nDCG

from tests.parity.real import DATA

FOLDER = DATA / "lightgbm"
CUTOFFS = (1, 3, 5, 10, 20)

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"expected the ranking example of LightGBM in {FOLDER}"
)


@pytest.fixture(scope="module")
def reported() -> dict[str, float]:
    text = (FOLDER / "lightgbm_reported.json").read_text(encoding="utf-8")
    return {name: value for name, value in json.loads(text).items() if "@" in name}


@pytest.fixture(scope="module")
def rankings() -> rankscope.Rankings:
    """Labels and group sizes as LightGBM reads them, and the scores that its model gave."""
    with (FOLDER / "rank.test").open(encoding="utf-8") as lines:
        labels = [float(line.partition(" ")[0]) for line in lines]
    sizes = [int(line) for line in (FOLDER / "rank.test.query").read_text().split()]
    with (FOLDER / "rank.test.scores.tsv").open(encoding="utf-8", newline="") as lines:
        scores = [float(row["score"]) for row in csv.DictReader(lines, delimiter="\t")]
    return rankscope.Rankings.from_groups(labels, scores, sizes, ties="input")


@pytest.mark.parametrize("k", CUTOFFS)
def test_ndcg_under_its_convention_is_what_it_reported(
    k: int, rankings: rankscope.Rankings, reported: dict[str, float]
) -> None:
    found = rankings.evaluate(nDCG @ k, convention="lightgbm")[nDCG @ k]
    assert found == pytest.approx(reported[f"ndcg@{k}"], abs=1e-9)


@pytest.mark.parametrize("k", CUTOFFS)
def test_map_under_its_convention_is_what_it_reported(
    k: int, rankings: rankscope.Rankings, reported: dict[str, float]
) -> None:
    found = rankings.evaluate(AP @ k, convention="lightgbm")[AP @ k]
    assert found == pytest.approx(reported[f"map@{k}"], abs=1e-9)


def test_every_reported_number_is_compared(reported: dict[str, float]) -> None:
    assert set(reported) == {f"{n}@{k}" for n in ("ndcg", "map") for k in CUTOFFS}


def test_the_settings_behind_the_convention_give_the_same(
    rankings: rankscope.Rankings, reported: dict[str, float]
) -> None:
    measures = [nDCG(gain="exp2", ideal="retrieved") @ 10, AP(denominator="reachable") @ 10]
    found = rankings.evaluate(measures, policy="empty=one")
    assert list(found.values()) == pytest.approx(
        [reported["ndcg@10"], reported["map@10"]], abs=1e-9
    )
