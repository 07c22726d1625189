"""Bounds of differences are the extremes over all completions of the judgments of seeded cases."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from rankscope import Measure, Policy, Rankings, parse

DOCS = "abcdefghi"
CASES = 250
Run = dict[str, float]
Case = tuple[dict[str, int], Run, Run]


def make_cases(seed: int, grades: range) -> list[Case]:
    """Judgments and two lists, some with ties, of which up to five documents are unjudged."""
    chance = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < CASES:
        pool = DOCS[: chance.randint(1, len(DOCS))]
        scores = chance.choice([2, 4, 20])
        one, other = (
            {
                doc: float(chance.randrange(scores))
                for doc in chance.sample(pool, chance.randint(0, len(pool)))
            }
            for _ in range(2)
        )
        known = {doc: chance.choice(grades) for doc in pool if chance.random() < 1 / 2}
        if one and len({*one, *other} - known.keys()) <= (5 if len(grades) == 2 else 4):
            cases.append((known, one, other))
    return cases


def rank(qrels: list[dict[str, int]], runs: list[Run], policy: Policy) -> Rankings:
    """Rank lists, each with its own judgments; a document nobody retrieved is judged in each."""
    judged = {f"{at:05}": {**known, "zz": 0} for at, known in enumerate(qrels)}
    lists = {f"{at:05}": run for at, run in enumerate(runs) if run}
    return Rankings.from_run(judged, lists, ties=policy.ties)


def try_all(
    cases: list[Case], measure: Measure, policy: Policy, scale: range
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest difference of each case over all grades of unjudged documents."""
    qrels, ones, others, ends = [], [], [], []
    for known, one, other in cases:
        unjudged = sorted({*one, *other} - known.keys())
        for grades in itertools.product(scale, repeat=len(unjudged)):
            qrels.append(known | dict(zip(unjudged, grades, strict=True)))
            ones.append(one)
            others.append(other)
        ends.append(len(qrels))
    first, second = (
        rank(qrels, runs, policy).evaluate(measure, policy=policy).per_query(measure)
        for runs in (ones, others)
    )
    parts = np.split(first - second, ends[:-1])
    with np.errstate(all="ignore"):
        return (
            np.array([np.nanmin(part) if (part == part).any() else np.nan for part in parts]),  # noqa: PLR0124 - NaN
            np.array([np.nanmax(part) if (part == part).any() else np.nan for part in parts]),  # noqa: PLR0124 - NaN
        )


@pytest.mark.parametrize(
    "name",
    [
        "AP",
        "AP@3",
        "AP(denominator='reachable')@2",
        "AP(denominator='cutoff')@4",
        "RR",
        "RR@2",
        "Success@2",
        "P@3",
        "P(denominator='retrieved')@3",
        "R@2",
        "R@9",
        "RBP",
        "RBP(p=0.5)@2",
    ],
)
@pytest.mark.parametrize(
    "policy", ["ties=doc_id", "ties=average", "ties=average,empty=skip", "ties=doc_id,empty=one"]
)
def test_bounds_of_differences_of_binary_measures(name: str, policy: str) -> None:
    check(parse(name), Policy.parse(policy), range(2))


@pytest.mark.parametrize("name", ["RBP(graded=True,max_grade=2)@3", "nDCG@3", "DCG", "P(rel=2)@2"])
@pytest.mark.parametrize("policy", ["ties=doc_id", "ties=average,empty=skip"])
def test_bounds_of_differences_of_graded_measures(name: str, policy: str) -> None:
    check(parse(name), Policy.parse(policy), range(3))


def check(measure: Measure, policy: Policy, scale: range) -> None:
    """Compare the bounds of the differences of many cases with those of all completions."""
    cases = make_cases(len(scale), scale)
    known, ones, others = zip(*cases, strict=True)
    ranked, against = (rank([*known], [*runs], policy) for runs in (ones, others))
    bounds = ranked.bounds(measure, against=against, scale=scale, policy=policy)
    lower, upper = try_all(cases, measure, policy, scale)
    # Equal values may come of other completions, whose sums round differently.
    np.testing.assert_allclose(bounds.array("lower"), lower, rtol=0, atol=1e-14)
    np.testing.assert_allclose(bounds.array("upper"), upper, rtol=0, atol=1e-14)
    assert bounds.is_exact


def test_documents_are_recognized_below_one_that_is_removed() -> None:
    # The list without judged spam is the same in both runs, so nothing can tell them apart.
    qrels = {"q": {"spam": -1, "good": 1}}
    one = Rankings.from_run(qrels, {"q": {"spam": 3.0, "new": 2.0, "good": 1.0}})
    other = Rankings.from_run(qrels, {"q": {"new": 2.0, "good": 1.0}})
    found = one.bounds("P@1", against=other, policy="unjudged=remove")
    assert (found.mean.lower, found.mean.upper) == (0.0, 0.0)
