"""One measure at many cutoffs, in a single pass over each list."""

from __future__ import annotations

from rankscope._core import EMPTY_VALUES
from rankscope.deferred import np
from rankscope.engine.requests import read_request
from rankscope.evaluation.evaluating import make_plan
from rankscope.evaluation.refusals import refuse_ideals_beaten_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankscope.evaluation.rankings import Rankings
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy

DEEPEST = 2**31
"""Larger cutoffs are those of whole lists, and evaluated one by one."""


def values_at(
    rankings: Rankings, base: Measure, cutoffs: Sequence[int | None], policy: Policy
) -> NDArray[np.float64]:
    """Evaluate one measure at many cutoffs."""
    usual = sorted({k for k in cutoffs if k is not None and k <= DEEPEST})
    columns: dict[int | None, NDArray[np.float64]] = {}
    if len(usual) > 1:
        columns |= zip(usual, _in_one_pass(rankings, base, usual, policy).T, strict=True)
    others = {k: base if k is None else base @ k for k in cutoffs if k not in columns}
    if others:
        evaluation = rankings.evaluate(others.values(), policy=policy)
        columns |= {k: evaluation.per_query(measure) for k, measure in others.items()}
    return np.stack([columns[k] for k in cutoffs], axis=-1)


def _in_one_pass(
    rankings: Rankings, base: Measure, cutoffs: list[int], policy: Policy
) -> NDArray[np.float64]:

    grades = rankings.grades
    request = read_request(
        base @ cutoffs[-1], policy, convention=None, score_type=None, grades=grades
    )
    plan = make_plan(request, rankings.tie_policy, grades, "error")
    column = rankings._core.values_at(plan, np.array(cutoffs, dtype=np.int64))  # noqa: SLF001 - a part of it
    if column is None:
        message = f"{base} has no values at many cutoffs"
        raise TypeError(message)
    values = np.frombuffer(memoryview(column), dtype=np.float64).reshape(-1, len(cutoffs)).copy()
    is_undefined = np.isnan(values)
    is_refused = np.isinf(values) | (is_undefined & (policy.empty == "error"))
    if is_refused.any():
        # One by one, the first of them is refused, with the query.
        rankings.evaluate(base @ cutoffs[int(is_refused.any(axis=0).argmax())], policy=policy)
    if policy.empty in EMPTY_VALUES:
        values[is_undefined] = EMPTY_VALUES[policy.empty]
    refuse_ideals_beaten_at(rankings, base, cutoffs, values)
    return values
