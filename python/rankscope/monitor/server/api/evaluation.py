"""Evaluates a project when it is asked for, and not only on schedule."""

from __future__ import annotations

from typing import cast

from typing_extensions import TypedDict

from rankscope.monitor.server.api.fields import Count, Object
from rankscope.monitor.server.routing.endpoint import Route
from rankscope.monitor.setup.fields import Time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.round import Round
    from rankscope.monitor.server.routing.endpoint import Call


class EvaluationFields(TypedDict):
    """What an evaluation has done."""

    as_of: Time
    hours: Count
    rankings: Count
    incidents: list[Object]


class Evaluating:
    """The route that evaluates a project.

    Args:
        evaluate: Evaluates a project, in turn with scheduled rounds (default: the monitor does).
    """

    def __init__(self, evaluate: Callable[[str], Round] | None = None) -> None:
        self._evaluate = evaluate
        self.routes = (
            Route(
                "POST",
                "/v1/evaluation",
                self.evaluate,
                result=EvaluationFields,
                refuses=(409,),
                is_slow=True,
            ),
        )

    def evaluate(self, monitor: Monitor, _call: Call) -> EvaluationFields:
        """Compute values and baselines from new events, and check the alert rules."""
        done = monitor.evaluate() if self._evaluate is None else self._evaluate(monitor.project)
        return cast("EvaluationFields", done.to_dict())
