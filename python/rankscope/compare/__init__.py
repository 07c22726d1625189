"""Decides whether a candidate may replace a baseline: budgets, their checks, and summaries."""

from __future__ import annotations

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.compare.gate import Budget as Budget
    from rankscope.compare.gate import Check as Check
    from rankscope.compare.gate import GateResult as GateResult
else:
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "Budget": "rankscope.compare.gate",
            "Check": "rankscope.compare.gate",
            "GateResult": "rankscope.compare.gate",
        },
    )
