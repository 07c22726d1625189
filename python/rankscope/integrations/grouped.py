"""Measures of rows that are sorted by query, as training libraries pass them."""

from __future__ import annotations

import rankscope as rs
from rankscope.errors import UsageError
from rankscope.settings.policy import ties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import ArrayLike


class GroupedMeasures:
    """Measures with a policy or a convention, of rows that are sorted by query.

    Args:
        measures: One or more measures. The first one decides when training stops.
        policy: As in `evaluate`.
        convention: As in `evaluate`, such as `"lightgbm"`.

    Raises:
        UsageError: A measure or the policy is not one, or a measure doesn't say which of two
            rankings is better.

    Examples:
        >>> measures = GroupedMeasures(["RR@10", "P@1"])
        >>> measures.evaluate([1, 0, 0, 2], [0.1, 0.2, 0.3, 0.4], [3, 1])
        [0.6666666666666666, 0.5]
    """

    def __init__(
        self,
        measures: str | rs.Measure | Sequence[str | rs.Measure],
        policy: rs.Policy | str | None = None,
        convention: str | None = None,
    ) -> None:
        given = [measures] if isinstance(measures, str | rs.Measure) else measures
        self.measures = [rs.parse(each) for each in given]
        self.policy = policy
        self.convention = convention
        if not self.measures:
            raise UsageError(
                "expected at least one measure, found none", hint='pass "nDCG@10"', code="usage"
            )
        for measure in self.measures:
            if measure.better == "neither":
                raise UsageError(
                    f"{measure} doesn't say which of two rankings is better",
                    hint="train and tune with another measure, such as nDCG@10",
                    code="no_direction",
                )
        # A table chooses the order of ties that the policy or the convention names, and refuses
        # what is wrong with either of them before training begins.
        row = {"query_id": ["q"], "relevance": [0.0], "score": [0.0]}
        made = rs.evaluate(row, self.measures, policy=policy, convention=convention)
        self.ties = ties_of(made.policy)

    def evaluate(
        self,
        grades: ArrayLike,
        scores: ArrayLike,
        sizes: Any,
        weights: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the mean of each measure over the queries.

        Args:
            grades: The grade of each row.
            scores: The score of each row.
            sizes: The number of rows of each query.
            weights: The weight of each query (default: all count the same).

        Raises:
            UsageError: There are no sizes.
            InputError: The sizes don't add up to the rows, or a value is invalid.
        """
        if sizes is None or len(sizes) == 0:
            raise UsageError(
                "the data to evaluate have no queries",
                hint="pass group=sizes (the rows of each query) or qid=ids where you create the "
                "dataset",
                code="no_groups",
            )
        rankings = rs.Rankings.from_groups(grades, scores, sizes, ties=self.ties)
        evaluation = rankings.evaluate(
            self.measures, policy=self.policy, convention=self.convention, weights=weights
        )
        return [evaluation[measure] for measure in self.measures]


def average_by_query(weights: Any, sizes: Any) -> list[float]:
    """Return the mean weight of the rows of each query.

    Args:
        weights: The weight of each row.
        sizes: The number of rows of each query, all above 0.
    """
    import numpy as np  # noqa: PLC0415 - loaded with the first array

    rows = np.asarray(sizes)
    sums = np.add.reduceat(np.asarray(weights, dtype=np.float64), np.cumsum(rows) - rows)
    return [float(each) for each in sums / rows]
