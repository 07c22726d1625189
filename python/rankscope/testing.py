"""A check for a test suite: a candidate is not worse than a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rankscope._compare.gate.result import GateResult
from rankscope._conventions import Convention
from rankscope._evaluate.query_values import Clusters
from rankscope._inputs.reading import Qrels
from rankscope._settings import Policy
from rankscope.measures import Measure
from rankscope.typing import InputLike


def assert_not_worse(
    judgments: InputLike | Qrels,
    baseline: InputLike,
    candidate: InputLike,
    measure: Measure | str = "nDCG@10",
    *,
    max_drop: float | str = 0.005,
    confidence: float = 0.95,
    on_inconclusive: Literal["fail", "pass"] = "fail",
    by: str | Sequence[str] | None = None,
    cluster: str | Clusters | None = None,
    attributes: object = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
) -> GateResult:
    """Assert that the mean of a candidate is not below that of a baseline by more than a budget.

    Args:
        judgments: The judgments, as in `rankscope.evaluate`.
        baseline: The run to compare with, as in `rankscope.evaluate`.
        candidate: The run to check.
        measure: The measure, or its name.
        max_drop: How far the mean may drop: a number, or text such as `"2%"`.
        confidence: The confidence level of the two-sided interval.
        on_inconclusive: Whether to `"fail"` or to `"pass"` if the data don't decide.
        by: Also check each slice of this attribute, as in `rankscope.gate`.
        cluster: What queries depend within, as in `rankscope.gate`.
        attributes: A table with one row per query, as in `rankscope.gate`.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`.

    Returns:
        The result of the gate, for other assertions.

    Raises:
        AssertionError: The drop is larger, or the data don't decide. The message shows the
            difference with its interval, and how many queries would decide.
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {f"q{n}": {"a": 2, "b": 1} for n in range(60)}
        >>> old = {query: {"b": 2.0, "a": 1.0} for query in qrels}
        >>> new = {query: {"a": 2.0, "b": 1.0} for query in qrels}
        >>> assert_not_worse(qrels, old, new, "nDCG@10", max_drop=0.005).verdict
        'holds'
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    import rankscope as rs
    from rankscope._compare.gate.summary import lay_out
    from rankscope._show.text import write

    result = rs.gate(
        judgments,
        baseline,
        candidate,
        rs.Budget(measure, max_drop=max_drop),
        confidence=confidence,
        on_inconclusive=on_inconclusive,
        by=by,
        cluster=cluster,
        attributes=attributes,
        policy=policy,
        convention=convention,
    )
    if not result.passed:
        raise AssertionError(write(lay_out(result)))
    return result
