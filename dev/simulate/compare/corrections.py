"""How often corrected tests of 20 comparisons are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rankscope._stats.paired import sum_by_cluster, test_pairs
from rankscope._stats.tests import Family, correct

if TYPE_CHECKING:
    from numpy.random import Generator

RUNS = 10
MEASURES = 2
PERMUTATIONS = 1999
PER_CLUSTER = 5
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """How often a correction was wrong.

    Args:
        any_false: The share of samples with a significant difference between equal runs.
        false_share: The mean share of significant differences that are between equal runs; 0 where
            nothing is significant.
        found: The mean share of true differences that are significant; NaN if there are none.
    """

    any_false: float
    false_share: float
    found: float


def draw(n: int, better: int, is_clustered: bool, random: Generator) -> list[Family]:
    """Return the values of a baseline and `RUNS` runs under `MEASURES` correlated measures.

    Args:
        n: The number of queries.
        better: How many of the runs are better than the baseline; the others are equal to it.
        is_clustered: Whether five queries in a row are alike in how runs differ.
        random: The source of the values.
    """
    codes = np.arange(n) // PER_CLUSTER if is_clustered else np.arange(n)
    count = int(codes[-1]) + 1
    hard = random.normal(0, 1, n)
    shared = random.normal(0, 0.4, (RUNS + 1, count))[:, codes]
    own = shared + random.normal(0, 0.4, (RUNS + 1, n))
    own[1 : better + 1] += 0.4
    families = []
    for _ in range(MEASURES):
        score = hard + own + random.normal(0, 0.2, (RUNS + 1, n))
        # Values from 0 to 1, some at both ends.
        values = np.clip(0.5 + score / 3, 0, 1)
        sums, sizes = sum_by_cluster(values, codes, count)
        pairs = [(0, run) for run in range(1, RUNS + 1)]
        families.append(Family(values=sums, sizes=sizes, pairs=pairs))
    return families


def find_errors(
    n: int, *, better: int = 0, is_clustered: bool = False, samples: int = 1000, seed: int = 0
) -> dict[str, Errors]:
    """Return how often each correction is wrong, for the permutation test.

    Args:
        n: The number of queries.
        better: As in `draw`.
        is_clustered: As in `draw`.
        samples: The number of samples.
        seed: The random seed. Each sample has random numbers of its own.
    """
    is_better = np.tile(np.arange(RUNS) < better, MEASURES)
    significant: dict[str, list[np.ndarray]] = {}
    for sample in range(samples):
        random = np.random.default_rng([seed, n, better, is_clustered, sample])
        tested = test_pairs(
            draw(n, better, is_clustered, random),
            permutations=PERMUTATIONS,
            seed=sample,
            threads=1,
        )
        corrected = {
            "none": tested.p,
            "Holm": correct(tested.p, "holm"),
            "max-T": np.asarray(tested.max_t),
            "BH": correct(tested.p, "bh"),
        }
        for name, p in corrected.items():
            significant.setdefault(name, []).append(p <= LEVEL)
    errors = {}
    for name, rows in significant.items():
        found = np.array(rows)
        false = (found & ~is_better).sum(axis=1)
        errors[name] = Errors(
            any_false=float((false > 0).mean()),
            false_share=float((false / np.maximum(found.sum(axis=1), 1)).mean()),
            found=float(found[:, is_better].mean()) if better else float("nan"),
        )
    return errors
