"""Explanations: the terms of a value, its losses, and what would raise it."""

from __future__ import annotations

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.explain.derive.swap import Swap as Swap
    from rankscope.explain.derive.swap import find_best_swap as find_best_swap
    from rankscope.explain.explanation import Explanation as Explanation
    from rankscope.explain.relevance import RelevanceExplanation as RelevanceExplanation
else:
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "Explanation": "rankscope.explain.explanation",
            "RelevanceExplanation": "rankscope.explain.relevance",
            "Swap": "rankscope.explain.derive.swap",
            "find_best_swap": "rankscope.explain.derive.swap",
        },
    )
