"""Tells where another order of tied documents would be another ranking."""

from __future__ import annotations

from rankscope.errors import PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.api.rankings import Rankings
    from rankscope.data.policy import Ties


def check_order(rankings: Rankings, ties: Ties, score_type: Literal["float64", "float32"]) -> None:
    """Refuse other choices than those of rankings, where they would order documents otherwise.

    Args:
        rankings: The rankings.
        ties: What decides between equal scores.
        score_type: How scores are compared.

    Raises:
        PolicyError: They would.
    """
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


def _find_ties(rankings: Rankings, kind: Literal["float64", "float32"]) -> NDArray[np.bool_]:
    """Say of each row but the first whether its score is that of the row before it."""
    scores, firsts = rankings.scores.astype(kind), rankings.offsets[1:-1]
    is_tied: NDArray[np.bool_] = scores[1:] == scores[:-1]
    is_tied[firsts[(firsts > 0) & (firsts < len(scores))] - 1] = False
    return is_tied
