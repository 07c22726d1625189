"""Checks that several functions share: which means, judgments, ideals and ties they refuse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope._evaluate.columns import Columns
from rankscope._evaluate.query_values import bad_parameter
from rankscope._settings import Policy, ScoreType, Ties
from rankscope.errors import FormatError, MeasureError, PolicyError, UsageError
from rankscope.measures import Measure


def check_averaged(measure: Measure, policy: Policy) -> None:
    """Raise an error unless values are averaged by the arithmetic mean."""
    if measure.row.mean != "mean":
        raise MeasureError(
            f"expected a measure whose values are averaged, found {measure}",
            hint="ask for that of each query, such as AP in place of GMAP",
            code="aggregate_unavailable",
        )
    if policy.aggregate != "mean":
        raise PolicyError(
            f"expected aggregate=mean, found {policy.aggregate}",
            hint="leave aggregate out",
            code="aggregate_unavailable",
        )


def refuse_run_measure(measure: Measure, action: str) -> None:
    """Raise an error for a measure that has one value of all lists, and none of a query."""
    if measure.row.level == "run":
        raise UsageError(
            f"{measure} can't {action}: it is one value of all lists together, so no query has a "
            "value to test or to resample",
            hint="rs.evaluate gives its value for each run, and rs.gate compares two with a "
            "tolerance; choose a measure with a value of each query here, such as Novelty@10",
            code="no_query_values",
        )


def refuse_items(measure: Measure, what: str) -> None:
    """Raise an error for a measure of recommended items, where only grades are used."""
    if measure.row.of_items:
        raise MeasureError(
            f"{measure} has no {what}: it depends on which items are recommended",
            hint="rs.evaluate, rs.compare, rs.gate and rs.report have measures of items",
            code="items_unavailable",
        )


def check_judgments(rankings: Columns, other: Columns, name: str) -> None:
    """Raise an error unless two rankings have the same queries and grades."""
    if not isinstance(other, Columns):
        raise bad_parameter(
            f"expected Rankings as {name!r}, found {type(other).__name__}",
            "make them by Rankings.from_run(qrels, run)",
        )
    is_same = (
        np.array_equal(other.ideal, rankings.ideal)
        and np.array_equal(other.ideal_offsets, rankings.ideal_offsets)
        and other.query_texts == rankings.query_texts
    )
    if not is_same:
        raise bad_parameter(
            f"expected rankings with the same judgments, found others in {name!r}",
            "make both with the same judgments: Rankings.from_run(qrels, run)",
        )


def refuse_beaten_ideals(
    rankings: Columns, measures: Sequence[Measure], values: Sequence[NDArray[np.float64]]
) -> None:
    """Raise an error for a list that is better than its given ideal by any of the measures.

    An ideal may be shorter than its list, as long as no list is better than its ideal.
    """
    relevant = np.concatenate([[0], np.cumsum(rankings.ideal > 0)])[rankings.ideal_offsets]
    is_empty, are_enough = np.diff(relevant) == 0, set[int]()
    for measure, of_queries in zip(measures, values, strict=True):
        if measure.row.value_range[1] != 1:
            continue
        for query in np.flatnonzero(is_empty | (of_queries > 1)).tolist():
            if query in are_enough:
                continue
            ideal = rankings.ideal[slice(*rankings.ideal_offsets[query : query + 2])]
            grades = rankings.relevance[slice(*rankings.offsets[query : query + 2])]
            if not _lacks(ideal, grades):
                are_enough.add(query)  # what it has of the whole list, it has of any part of it
            elif _lacks(ideal, grades[: measure.k]):
                raise FormatError(
                    "expected an ideal with the grades of its list, found a list that is better "
                    f"by {measure}",
                    hint="give all judged grades, those of the list among them",
                    code="ideal_mismatch",
                    file="ideal",
                    line=query + 1,
                )


def _lacks(ideal: NDArray[np.float64], grades: NDArray[np.float64]) -> bool:
    """Check whether an ideal lacks any grade above 0 of a list."""
    best = np.sort(grades[grades > 0])[::-1]
    return len(best) > len(ideal) or bool((best > ideal[: len(best)]).any())


def check_order(rankings: Columns, ties: Ties, score_type: ScoreType) -> None:
    """Raise an error if a policy would order tied documents differently than the rankings do."""
    compared = score_type if rankings.score_type == "float64" else "float32"
    tied = _find_ties(rankings, compared)
    if compared != rankings.score_type and (tied != _find_ties(rankings, "float64")).any():
        raise PolicyError(
            "expected scores that single precision tells apart, in which they are to be compared, "
            "found others",
            hint="make the Rankings by from_run(…, score_type='float32')",
            code="score_type_fixed",
        )
    if ties != rankings.tie_policy and tied.any():
        raise PolicyError(
            f"expected rankings with ties={ties!r}, found tied scores and "
            f"ties={rankings.tie_policy!r}",
            hint=f"make the Rankings with ties={ties!r}",
            code="ties_fixed",
        )


def _find_ties(rankings: Columns, kind: ScoreType) -> NDArray[np.bool_]:
    """Return for each row but the first whether its score equals the one before it."""
    scores, firsts = rankings.scores.astype(kind), rankings.offsets[1:-1]
    is_tied: NDArray[np.bool_] = scores[1:] == scores[:-1]
    is_tied[firsts[(firsts > 0) & (firsts < len(scores))] - 1] = False
    return is_tied
