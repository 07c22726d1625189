"""What is said of a mean: refuses measures and policies that take no mean over queries."""

from __future__ import annotations

from rankscope.errors import MeasureError, PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.data.policy import Policy
    from rankscope.measures import Measure


def check_averaged(measure: Measure, policy: Policy) -> None:
    """Refuse what is summed up in another way than by the arithmetic mean.

    Raises:
        MeasureError: The measure is.
        PolicyError: The policy says so.
    """
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
