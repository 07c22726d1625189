"""Batches in every layout, and their values by the core."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import rankscope as rs
from hypothesis import strategies as st
from numpy.typing import NDArray
from rankscope.array import evaluate_batch

MEASURES = (
    "nDCG",
    "nDCG@1",
    "nDCG@3",
    "nDCG@50",
    "nDCG(dcg='exp-log2')@3",
    "nDCG(gain='binary')@3",
    "nDCG(gain={0: 0, 1: 3, 2: 1, 3: 4})@2",
    "nDCG(ideal='whole')@2",
    "nDCG(ideal='slots')@12",
    "nDCG(discount='reciprocal')@3",
    "nDCG(discount='zipf', s=0.5)@4",
    "nDCG(discount='jk')",
    "nDCG(discount=[1, 0.5, 0.25])@3",
    "DCG",
    "DCG(discount='log', base=10)@3",
    "DCG(discount='linear')@5",
    "AP",
    "AP@3",
    "AP(rel=2)@2",
    "AP(denominator='reachable')@2",
    "RR",
    "RR@2",
    "P@1",
    "P@3",
    "P@50",
    "P(denominator='retrieved')@4",
    "R@1",
    "R@3",
    "R@50",
    "Success@1",
    "Success@3",
)


@dataclass
class Lists:
    """A padded batch, with numbers where there is no document, too."""

    grades: NDArray[np.float64]
    scores: NDArray[np.float64]
    mask: NDArray[np.bool_]

    @property
    def lengths(self):
        return self.mask.sum(axis=1)

    def packed(self):
        """Return the documents of each row in its first columns, in the same order."""
        order = np.argsort(~self.mask, axis=1, kind="stable")
        arrays = (np.take_along_axis(a, order, 1) for a in (self.grades, self.scores, self.mask))
        return Lists(*arrays)

    def layouts(self):
        """Return the same lists in each layout."""
        packed, grades, scores = self.packed(), self.grades[self.mask], self.scores[self.mask]
        flat = {"grades": grades, "scores": scores}
        ends = np.cumsum(self.lengths)
        return {
            "mask": {"grades": self.grades, "scores": self.scores, "mask": self.mask},
            "packed": {"grades": packed.grades, "scores": packed.scores, "lengths": self.lengths},
            "lengths": {**flat, "lengths": self.lengths},
            "offsets": {**flat, "offsets": np.concatenate([[0], ends])},
        }

    def core(self, measures, ties, negative="nonrelevant"):
        """Return the values of the core, NaN where a measure is undefined."""
        scores = np.where(self.mask, self.scores, math.nan)
        # The core wants a judgment somewhere; the row that has it is left out of the answer.
        grades, scores = (np.pad(each, ((0, 1), (0, 0))) for each in (self.grades, scores))
        rankings = rs.Rankings.from_arrays(grades, scores, ties=ties)
        policy = rs.Policy(ties=ties, negative=negative, empty="nan")
        evaluation = rankings.evaluate(measures, policy=policy)
        return {name: evaluation.per_query(name)[:-1] for name in measures}


def check(lists, convert, measures=MEASURES, *, ties="average", negative="nonrelevant"):
    """Check that every layout has the values of the core."""
    expected = lists.core(measures, ties, negative)
    for layout, arrays in lists.layouts().items():
        found = evaluate_batch(
            measures,
            **{name: convert(array) for name, array in arrays.items()},
            ties=ties,
            negative=negative,
            empty="nan",
        )
        for name, values in zip(measures, found.values(), strict=True):
            # Sums are added in another order than in the core.
            np.testing.assert_allclose(
                np.asarray(values),
                expected[name],
                rtol=1e-12,
                atol=1e-12,
                err_msg=f"{layout} {name}",
            )


@st.composite
def batches(draw):
    """Generate lists with ties, unjudged documents, negative grades, and rows without documents."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 9)))
    size = math.prod(shape)
    grade = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, -1.0, math.nan])
    score = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.0 + 2**-50, -2.0, 1e300, -1e300])
    column = [draw(st.lists(kind, min_size=size, max_size=size)) for kind in (grade, score)]
    mask = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=size, max_size=size))
    grades, scores = (np.array(values).reshape(shape) for values in column)
    return Lists(grades, scores, np.array(mask).reshape(shape))


def large(rows, columns, *, levels, seed):
    random = np.random.default_rng(seed)
    return Lists(
        random.integers(0, 4, (rows, columns)).astype(float),
        random.integers(0, levels, (rows, columns)) / levels,
        random.random((rows, columns)) < 0.9,
    )
