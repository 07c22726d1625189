"""Explanations: the terms of a value, its losses, and what would raise it."""

from __future__ import annotations

from rankscope.explain.derive.swap import Swap as Swap
from rankscope.explain.derive.swap import find_best_swap as find_best_swap
from rankscope.explain.explanation import Explanation as Explanation
from rankscope.explain.relevance import RelevanceExplanation as RelevanceExplanation
