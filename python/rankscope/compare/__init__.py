"""Decides whether a candidate may replace a baseline: budgets, their checks, and summaries."""

from __future__ import annotations

from rankscope.compare.gate import Budget as Budget
from rankscope.compare.gate import Check as Check
from rankscope.compare.gate import GateResult as GateResult
