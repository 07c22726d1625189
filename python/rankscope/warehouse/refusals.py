"""Errors for what SQL can't say."""

from __future__ import annotations

from rankscope.errors import MeasureError, PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures import Measure

CODE = "not_in_sql"


def refuse_measure(measure: Measure, why: str) -> MeasureError:
    """Return the error for a measure that SQL can't compute."""
    return MeasureError(
        f"SQL can't compute {measure}: {why}",
        hint="evaluate the tables with rankscope, or leave this measure out",
        code=CODE,
        value=measure.name,
    )


def refuse_parameter(measure: Measure, name: str, why: str) -> MeasureError:
    """Return the error for a parameter whose value SQL can't express."""
    return MeasureError(
        f"SQL can't compute {measure}: its {name} is {why}",
        hint=f"pass {name} as a table or by its name",
        code=CODE,
        value=measure.name,
    )


def refuse_policy(field: str, value: object, why: str, hint: str) -> PolicyError:
    """Return the error for a policy that SQL can't follow."""
    return PolicyError(f"SQL can't follow {field}={value}: {why}", hint=hint, code=CODE)
