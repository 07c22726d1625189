"""The audit of ties is that of all orders of the tied documents."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, nDCG, parse

from tests.generated import examples
from tests.refusals import refused

UNJUDGED = math.nan


def every_order(documents: list[tuple[int, float]]) -> list[list[float]]:
    """The grades in each order in which no score is above the one before it."""
    scores = sorted({score for score, _ in documents}, reverse=True)
    groups = [[grade for own, grade in documents if own == score] for score in scores]
    orders = itertools.product(*map(itertools.permutations, groups))
    return [list(itertools.chain(*order)) for order in orders]


grades = st.sampled_from([UNJUDGED, 0.0, 1.0, 2.0, 3.0])
documents = st.lists(st.tuples(st.integers(0, 2), grades), min_size=1, max_size=6)


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@3", "nDCG", "nDCG(gain='exp2')@4", "DCG@3", "AP", "RR", "P@3", "R@2"),
        *("Judged@2", "Unjudged@2", "Bpref"),
    ],
)
@given(documents=documents)
@examples(40)
def test_the_audit_is_that_of_all_orders(name: str, documents: list[tuple[int, float]]) -> None:
    measure = parse(name)
    documents = [*documents, (-1, 0.0)]  # something has to be judged
    orders = every_order(documents)
    values = Rankings.from_lists(orders).evaluate(measure).per_query(measure)
    scores, relevance = zip(*documents, strict=True)
    ranked = Rankings.from_arrays([relevance], [scores], ties="input")
    audit = ranked.ties(measure)
    row = audit.to_dict()["0"]
    # Bpref has no formula for the mean over all orders; without relevant documents it is 0.
    has_formula = name != "Bpref" or not any(grade > 0 for grade in relevance)
    is_known = has_formula or len(set(scores)) == len(scores)
    mean = values.mean() if is_known else math.nan
    assert row["expected"] == pytest.approx(mean, abs=1e-12, nan_ok=True)
    assert row["lower"] == pytest.approx(values.min(), abs=1e-12)
    assert row["upper"] == pytest.approx(values.max(), abs=1e-12)
    if "DCG" in name:
        assert row["variance"] == pytest.approx(values.var(), abs=1e-12)
    sizes = np.unique(scores, return_counts=True)[1]
    assert row["tied"] == sizes[sizes > 1].sum()


def test_the_spread_of_a_published_example() -> None:
    # Yang et al., arXiv 2508.03306: scores .99 .97 .97 .97 .95, the second and the fourth relevant.
    relevance, scores = [[0, 1, 0, 1, 0]], [[0.99, 0.97, 0.97, 0.97, 0.95]]
    ranked = Rankings.from_arrays(relevance, scores, ties="input")
    for name, expected in {
        "nDCG@3": (0.3869, 0.4623, 0.3066, 0.6934),
        "nDCG@5": (0.6509, 0.6383, 0.5706, 0.6934),
    }.items():
        found = ranked.ties(name).summary
        assert (found.value, found.expected, found.lower, found.upper) == pytest.approx(
            expected, abs=5e-5
        )
    assert ranked.ties("RR@3").summary.expected == pytest.approx(0.4444, abs=5e-5)
    assert ranked.ties("R@3").summary.expected == pytest.approx(0.6667, abs=5e-5)


def test_ties_that_rounding_makes_are_told_from_those_that_are_there() -> None:
    # The first two are equal; the next two only in bfloat16, and the last two in float32 as well.
    scores = [[1.5, 1.5, 1.0001, 1.0002, 0.5, 0.5 + 2**-40]]
    found = Rankings.from_arrays([[0, 1, 0, 1, 0, 1]], scores).ties(nDCG).by_precision
    assert found.to_dict() == {
        name: {**row, "tied documents": tied}
        for (name, row), tied in zip(found.to_dict().items(), [2, 4, 6, 6], strict=True)
    }
    assert found.column("scores") == ("as given", "float32", "bfloat16", "float16")


@pytest.mark.parametrize(
    ("scores", "precision"),
    [
        ([3.0, 2.0, 1.0], "ranks"),
        ([2.5, 1.5, 0.5], "float16"),
        ([0.5, 0.5, 0.25], "float16"),
        ([1e30, 1e20, 1e10], "float64"),
        ([float(np.float32(0.1)), 0.0, -1.0], "float32"),
        ([2.0**100, 1.0, 0.5], "bfloat16"),
        ([0.1, 0.0, -1.0], "float64"),
    ],
)
def test_the_narrowest_type_of_the_scores_is_named(scores: list[float], precision: str) -> None:
    assert Rankings.from_arrays([[1, 0, 2]], [scores]).ties(nDCG).summary.precision == precision


def test_an_undefined_query_has_the_value_of_the_policy_in_any_order() -> None:
    ranked = Rankings.from_arrays([[0, 0], [1, 0]], [[1, 1], [1, 1]])
    for empty, value in {"zero": 0.0, "one": 1.0}.items():
        row = ranked.ties(nDCG, policy=f"empty={empty},ties=average").to_dict()["0"]
        assert (row["expected"], row["lower"], row["upper"], row["variance"]) == (*[value] * 3, 0.0)
    skipped = ranked.ties(nDCG, policy="empty=skip,ties=average")
    assert np.isnan(skipped.array("expected")).tolist() == [True, False]
    assert skipped.summary.queries == 1


@pytest.mark.parametrize(("measure", "policy"), [("GMAP", None), ("nDCG", "aggregate=median")])
def test_a_mean_is_not_said_of_what_is_not_averaged(measure: str, policy: str | None) -> None:
    refused(
        lambda: Rankings.from_arrays([[1, 0]], [[1, 1]]).ties(measure, policy=policy),
        "aggregate_unavailable",
    )


def test_a_deviation_that_is_not_known_is_not_written() -> None:
    ranked = Rankings.from_arrays([[1, 0]], [[1, 1]])
    assert "standard deviation" in str(ranked.ties("nDCG"))
    assert "standard deviation" not in str(ranked.ties("RR"))
