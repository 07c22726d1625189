"""The fields of a policy as the report shows them, with what each value means."""

from __future__ import annotations

from rankscope._core import POLICY
from rankscope.report.report import PolicyField
from rankscope.settings.policy import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.settings.policy import Policy


def explain_policy(policy: Policy) -> tuple[PolicyField, ...]:
    """Return the fields of a policy, each with its value and what that means."""
    values = policy.to_dict()
    return tuple(
        PolicyField(field=field, value=_write(values[field]), meaning=_mean(field, values[field]))
        for field in FIELDS
    )


def _write(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _mean(field: str, value: object) -> str:
    if field == "missing_gain":
        gain = 0 if value is None else value
        return f"A rank down to the cutoff at which a list has no document has the gain {gain}."
    if field == "unjudged" and not isinstance(value, str):
        return f"A retrieved document without a judgment has the gain {value}."
    return POLICY[field][str(value).partition("(")[0]]
