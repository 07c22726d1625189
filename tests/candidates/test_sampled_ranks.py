"""Values over a whole catalogue, estimated from ranks among sampled candidates."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.candidates.estimate import (
    count_ranks,
    find_chances,
    fit_prior,
    list_ranks,
    tune_values,
)
from scipy import stats

ITEMS, SAMPLED = 60, 12
RANKS = np.arange(1.0, ITEMS + 1)
CHANCES = find_chances(RANKS, SAMPLED, ITEMS)
UNIFORM = np.full(ITEMS, 1 / ITEMS)


def test_a_sampled_rank_is_one_plus_a_binomial_count() -> None:
    expected = [
        stats.binom.pmf(np.arange(SAMPLED + 1), SAMPLED, (rank - 1) / (ITEMS - 1)) for rank in RANKS
    ]
    # Logarithms are rounded otherwise.
    np.testing.assert_allclose(CHANCES, expected, rtol=1e-10, atol=1e-300)


def test_the_estimated_mean_rank_is_unbiased() -> None:
    found = [
        rs.correct_sampled_ranks([rank], sampled=SAMPLED, items=ITEMS, measures="RR").mean_rank
        for rank in range(1, SAMPLED + 2)
    ]
    np.testing.assert_allclose(CHANCES @ np.array(found), RANKS, rtol=1e-10)


def test_values_minimize_squared_bias_and_variance() -> None:
    wanted = 1 / RANKS

    def cost(values: np.ndarray) -> float:
        mean = CHANCES @ values
        variance = CHANCES @ values**2 - mean**2
        return float(((mean - wanted) ** 2 + 0.1 * variance).sum())

    best = tune_values(wanted[:, None], UNIFORM, CHANCES, 0.1)[:, 0]
    random = np.random.default_rng(1)
    for _ in range(50):
        assert cost(best) <= cost(best + 0.01 * random.normal(size=len(best)))


def test_bins_of_large_ranks_give_the_values_of_all_ranks() -> None:
    items, sampled = 20_000, 40
    known, every = list_ranks(items), np.arange(1.0, items + 1)
    assert known.counts.sum() == items
    found = [
        tune_values(1 / ranks[:, None], counts / items, find_chances(ranks, sampled, items), 0.1)
        for ranks, counts in ((known.ranks, known.counts), (every, np.ones(items)))
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=2e-3, atol=1e-6)


def test_a_prior_fits_the_ranks_that_it_was_drawn_from() -> None:
    items, sampled = 500, 50
    known = list_ranks(items)
    chances = find_chances(known.ranks, sampled, items)
    true = np.exp(-known.ranks / 20)
    true /= true.sum()
    fitted = fit_prior(known, chances, true @ chances)
    assert fitted.sum() == pytest.approx(1)
    assert fitted[:20].sum() == pytest.approx(true[:20].sum(), abs=0.03)


def test_corrected_values_are_close_to_those_of_all_items() -> None:
    random = np.random.default_rng(2)
    items, sampled = 2000, 100
    ranks = np.minimum(np.exp(random.exponential(2.5, 5000)).astype(int) + 1, items)
    drawn = 1 + random.binomial(sampled, (ranks - 1) / (items - 1))
    found = rs.correct_sampled_ranks(drawn, sampled=sampled, items=items)
    expected = {
        "nDCG@10": np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0).mean(),
        "R@10": (ranks <= 10).mean(),
        "RR": (1 / ranks).mean(),
    }
    for name, value in expected.items():
        # The values have a bias, but far below that of the sampled ones.
        assert abs(found[name].value - value) < 0.15 * abs(found[name].among_sampled - value)
    assert found.mean_rank_lower < ranks.mean() < found.mean_rank_upper


def test_rankings_give_the_same_as_their_ranks() -> None:
    random = np.random.default_rng(3)
    scores, grades = random.random((40, 101)), np.zeros((40, 101))
    grades[:, 7] = 1
    ranks = (scores > scores[:, 7:8]).sum(axis=1) + 1
    rankings = rs.Rankings.from_arrays(grades, scores)
    expected = rs.correct_sampled_ranks(ranks, sampled=100, items=5000)
    assert rs.correct_sampled_ranks(rankings, items=5000) == expected
    assert expected["nDCG@10"].among_sampled == pytest.approx(
        rankings.evaluate("nDCG@10")["nDCG@10"], rel=1e-12
    )


def test_tied_ranks_count_as_a_share_of_each() -> None:
    rankings = rs.Rankings.from_arrays([[1, 0, 0, 0]] * 2, [[2, 2, 1, 3], [4, 3, 2, 1]])
    found = rs.correct_sampled_ranks(rankings, items=100, measures="RR")
    assert found["RR"].among_sampled == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1) / 2)
    counts = count_ranks(np.array([2, 1]), np.array([3, 1]), 3)
    assert counts.tolist() == [1, 0.5, 0.5, 0]


@pytest.mark.parametrize(
    ("ranks", "arguments", "error"),
    [
        ([0], {}, rs.InputError),
        ([102], {}, rs.InputError),
        ([1.5], {}, rs.InputError),
        ([], {}, rs.InputError),
        ([1], {"items": 100}, rs.UsageError),
        ([1], {"sampled": None}, rs.UsageError),
        ([1], {"tradeoff": 0}, rs.UsageError),
        ([1], {"level": 1}, rs.UsageError),
        ([1], {"prior": "flat"}, rs.UsageError),
        ([1], {"measures": "nDCG"}, rs.MeasureError),
        (rs.Rankings.from_lists([[1, 1, 0]]), {"sampled": None}, rs.InputError),
        (rs.Rankings.from_lists([[1, 0], [0, 1, 0]]), {"sampled": None}, rs.InputError),
    ],
)
def test_what_cannot_be_corrected_is_refused(
    ranks: object, arguments: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        rs.correct_sampled_ranks(ranks, **{"items": 1000, "sampled": 100} | arguments)


def lists(queries: int, size: int, relevant: int = 1) -> list[list[int]]:
    random = np.random.default_rng(4)
    row = [1] * relevant + [0] * (size - relevant)
    return [random.permutation(row).tolist() for _ in range(queries)]


def test_lists_that_look_like_sampled_candidates_are_noted() -> None:
    evaluation = rs.Rankings.from_lists(lists(12, 101)).evaluate("nDCG@10")
    assert evaluation.diagnostics == {"sampled_candidates": 12}
    assert "see correct_sampled_ranks" in str(evaluation)


@pytest.mark.parametrize(("queries", "noted"), [(9, {}), (10, {"sampled_candidates": 10})])
def test_ten_lists_look_like_sampled_candidates_and_fewer_do_so_by_chance(
    queries: int, noted: dict[str, int]
) -> None:
    assert rs.Rankings.from_lists(lists(queries, 101)).evaluate("nDCG@10").diagnostics == noted


def test_a_run_and_a_table_of_sampled_candidates_are_noted() -> None:
    rows = {"q": [], "doc_id": [], "label": [], "score": []}
    for query, grades in enumerate(lists(15, 21)):
        rows["q"] += [query] * 21
        rows["doc_id"] += [*range(21)]
        rows["label"] += grades
        rows["score"] += [float(21 - at) for at in range(21)]
    found = rs.evaluate(rows, "RR", query="q")
    assert found.diagnostics["sampled_candidates"] == 15
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, doc, label, score in zip(*rows.values(), strict=True):
        qrels.setdefault(f"q{query}", {})[f"d{doc}"] = label
        run.setdefault(f"q{query}", {})[f"d{doc}"] = score
    assert rs.evaluate(qrels, run, "RR").diagnostics == {"sampled_candidates": 15}
    # Without explicit grades of 0, this is the list of a search engine.
    few = {query: {doc: 1 for doc, grade in docs.items() if grade} for query, docs in qrels.items()}
    assert rs.evaluate(few, run, "RR").diagnostics == {}


@pytest.mark.parametrize(
    "given",
    [lists(9, 101), lists(12, 19), lists(12, 101, 2), lists(12, 101) + lists(1, 102)],
    ids=["few queries", "short lists", "two relevant", "other sizes"],
)
def test_other_lists_are_not_noted(given: list[list[int]]) -> None:
    assert rs.Rankings.from_lists(given).evaluate("nDCG@10").diagnostics == {}


def test_a_table_is_refused_with_what_to_write() -> None:
    with pytest.raises(rs.UsageError) as caught:
        rs.correct_sampled_ranks({"query_id": [1], "label": [1], "score": [1.0]}, items=100)
    assert caught.value.hint == "pass Rankings.from_table(table)"
