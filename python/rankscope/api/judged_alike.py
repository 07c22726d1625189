"""Rankings that are compared: refuses those that were joined with other judgments."""

from __future__ import annotations

from rankscope.api.columns import Columns
from rankscope.errors import UsageError


def check_judgments(rankings: Columns, other: Columns, name: str) -> None:
    """Refuse rankings that do not have the queries and grades of others.

    Args:
        rankings: The rankings.
        other: Those that are compared with them.
        name: What messages call them.

    Raises:
        UsageError: They were joined with other judgments.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not isinstance(other, Columns):
        raise UsageError(
            f"expected Rankings as {name!r}, found {type(other).__name__}",
            hint="make them by Rankings.from_run(qrels, run)",
            code="bad_parameter",
        )
    is_same = (
        np.array_equal(other.ideal, rankings.ideal)
        and np.array_equal(other.ideal_offsets, rankings.ideal_offsets)
        and other.query_ids == rankings.query_ids
    )
    if not is_same:
        raise UsageError(
            f"expected rankings with the same judgments, found others in {name!r}",
            hint="make both with the same judgments: Rankings.from_run(qrels, run)",
            code="bad_parameter",
        )
