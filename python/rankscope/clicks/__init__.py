"""Click logs: what another ranker would have got."""

from __future__ import annotations

from rankscope.clicks.off_policy import evaluate_off_policy as evaluate_off_policy
from rankscope.clicks.result import OffPolicyEvaluation as OffPolicyEvaluation

__all__ = ["OffPolicyEvaluation", "evaluate_off_policy"]
