"""How a change adds up: bars from what was before to what is after, each where the last ended."""

from __future__ import annotations

from itertools import accumulate

from rankscope.records import record
from rankscope.report.charts import choose_axis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.report.charts import Axis


@record(frozen=True, slots=True)
class Step:
    """A part of a change.

    Args:
        name: What it is.
        amount: How much it adds; `None` where that cannot be observed.
        start: Where its bar begins, from 0 to 100.
        width: How wide it is.
        end: Where the next one goes on.
    """

    name: str
    amount: float | None
    start: float
    width: float
    end: float


@record(frozen=True, slots=True)
class Waterfall:
    """The parts of a change, end to end.

    Args:
        axis: The axis of values.
        before: Where it begins, from 0 to 100.
        steps: The parts.
        after: Where it ends.
    """

    axis: Axis
    before: float
    steps: tuple[Step, ...]
    after: float


def draw_waterfall(before: float, after: float, parts: Mapping[str, float | None]) -> Waterfall:
    """Draw the parts of a change.

    Args:
        before: The value before.
        after: The value after: that before and all parts.
        parts: How much each adds, in order.

    Examples:
        >>> fall = draw_waterfall(0.9, 0.6, {"mix": 0.1, "within": -0.4})
        >>> [(step.name, step.width > 0, step.end) for step in fall.steps]
        [('mix', True, 93.103), ('within', True, 6.897)]
    """
    ends = list(accumulate((amount or 0.0 for amount in parts.values()), initial=before))
    axis = choose_axis([*ends, after])
    steps = []
    for (name, amount), start, end in zip(parts.items(), ends, ends[1:], strict=False):
        left, right = sorted((axis.place(start), axis.place(end)))
        steps.append(Step(name, amount, left, round(right - left, 3), axis.place(end)))
    return Waterfall(axis, axis.place(before), tuple(steps), axis.place(after))
