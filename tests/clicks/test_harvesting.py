"""How often ranks are looked at, from documents that several rankers show at several ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rankscope as rs
from scipy.optimize import minimize

LOOKS = [1.0, 0.7, 0.5, 0.35]


def make_log(searches: int, queries: int, seed: int = 0) -> dict[str, Any]:
    """A log of two rankers, both of which put better documents first."""
    draw = np.random.default_rng(seed)
    worth = draw.beta(0.8, 3, size=(queries, 4))
    ranks = [
        (-(worth + 0.2 * draw.normal(size=worth.shape))).argsort(axis=1).argsort(axis=1)
        for _ in range(2)
    ]
    query = draw.integers(queries, size=searches)
    rank = np.where(draw.random(searches)[:, None] < 0.5, ranks[0][query], ranks[1][query])
    click = draw.random((searches, 4)) < np.array(LOOKS)[rank] * worth[query]
    return {
        "query": np.repeat(query, 4),
        "doc_id": np.tile(np.arange(4), searches),
        "rank": rank.ravel() + 1,
        "click": click.ravel().astype(int),
        "user": np.repeat(draw.integers(searches // 3, size=searches), 4),
    }


def harvest(log: object, **options: Any) -> Any:  # noqa: ANN401 - of options
    return rs.estimate_examination(log, method="harvest", **options)


def test_rankers_that_put_good_documents_first_do_not_bias_the_curve() -> None:
    log = make_log(40_000, 2000)
    assert rs.estimate_examination(log).weights[3] < 0.15
    curve = harvest(log)
    assert curve.weights == pytest.approx(LOOKS, abs=0.03)
    assert curve.method == "harvest"
    assert "shown at several ranks" in str(curve)


def test_two_ranks_compare_the_weighted_rates_of_swapped_documents() -> None:
    # Document a is at rank 1 three times and at rank 2 once, b the other way round; c never moves.
    log = {
        "query": ["q"] * 10,
        "doc": ["a"] * 4 + ["b"] * 4 + ["c"] * 2,
        "rank": [1, 1, 1, 2, 1, 2, 2, 2, 1, 1],
        "click": [1, 0, 0, 1, 1, 1, 0, 0, 1, 1],
    }
    weight = 3 * 1 / (3 + 1)
    first = weight * (1 / 3) + weight * 1
    second = weight * 1 + weight * (1 / 3)
    curve = harvest(log)
    assert curve.weights[1] == pytest.approx(second / first, rel=1e-9)
    assert curve.column("impressions") == (4, 4)
    assert curve.column("documents") == (2, 2)


def test_three_ranks_maximize_the_likelihood_of_all_pairs() -> None:
    log = {
        name: column[make_log(500, 30)["rank"] < 4] for name, column in make_log(500, 30).items()
    }
    cells: dict[tuple[int, int], dict[int, list[int]]] = {}
    for query, doc, rank, click in zip(
        log["query"], log["doc_id"], log["rank"], log["click"], strict=True
    ):
        cells.setdefault((query, doc), {}).setdefault(int(rank), []).append(int(click))
    rows = [
        (pair, at - 1, 1 / (1 / len(shown[one]) + 1 / len(shown[other])), np.mean(shown[at]))
        for pair, (one, other) in enumerate([(1, 2), (1, 3), (2, 3)])
        for shown in cells.values()
        if one in shown and other in shown
        for at in (one, other)
    ]
    pair, rank, weight, rate = (np.array(column) for column in zip(*rows, strict=True))

    def loss(values: np.ndarray[Any, Any]) -> float:
        looks = np.append(0.0, values[:2])
        chance = np.exp(np.minimum(looks[rank] + values[2:][pair], -1e-9))
        likely = rate * np.log(chance) + (1 - rate) * np.log1p(-chance)
        return -float((weight * likely).sum())

    found = minimize(
        loss,
        [-0.3, -0.6, -1.5, -1.5, -1.5],
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000},
    )
    assert harvest(log).weights[1:] == pytest.approx(tuple(np.exp(found.x[:2])), rel=1e-4)


def test_few_queries_get_no_interval() -> None:
    curve = harvest(make_log(3000, 20))
    assert all("clusters" in curve.refused[rank] for rank in (2, 3, 4))
    assert all(np.isnan(curve.upper[1:]))


def test_clusters_can_be_users() -> None:
    curve = harvest(make_log(3000, 20), cluster="user")
    assert curve.clusters is not None
    assert curve.clusters > 500
    assert not curve.refused


def test_swaps_of_neighbors_link_distant_ranks() -> None:
    log = make_log(20_000, 500)
    first = log["query"] % 3 + 1
    is_kept = (log["rank"] == first) | (log["rank"] == first + 1)
    log = {name: column[is_kept] for name, column in log.items()}
    assert harvest(log).weights == pytest.approx(LOOKS, abs=0.1)


MISTAKES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "one ranker": ({"rank": np.tile([1, 2, 3, 4], 100)}, {}, "no_swaps"),
    "no clicks": ({"click": [0] * 400}, {}, "no_swaps"),
    "half a click": ({"click": [0.5] * 400}, {}, "bad_click"),
    "rank 0": ({"rank": [0] * 400}, {}, "bad_rank"),
    "propensities": ({}, {"propensity": "click"}, "bad_parameter"),
    "many ranks": ({"rank": [51] * 400}, {}, "bad_parameter"),
    "another method": ({}, {"method": "em"}, "bad_policy"),
    "rates of queries": ({}, {"method": "rates", "query": "query"}, "bad_parameter"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_meant_is_refused(mistake: str) -> None:
    columns, options, code = MISTAKES[mistake]
    log = {**make_log(100, 10), **columns}
    with pytest.raises(rs.RankscopeError) as refused:
        rs.estimate_examination(log, **{"method": "harvest", **options})
    assert refused.value.code == code
    assert refused.value.hint
