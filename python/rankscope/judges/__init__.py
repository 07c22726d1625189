"""Judges: their agreement, their combined grades, and values estimated from a model's grades."""

from __future__ import annotations

from rankscope.judges.combination import CombinedJudgments as CombinedJudgments
from rankscope.judges.combination import combine as combine
from rankscope.judges.model_judge import estimate_dcg as estimate_dcg
from rankscope.judges.model_judge import evaluate as evaluate
from rankscope.judges.reliability import JudgeAgreement as JudgeAgreement
from rankscope.judges.reliability import JudgePair as JudgePair
from rankscope.judges.reliability import agreement as agreement
from rankscope.judges.result import ModelJudgedEvaluation as ModelJudgedEvaluation
from rankscope.judges.result import ModelJudgedMean as ModelJudgedMean

__all__ = [
    "CombinedJudgments",
    "JudgeAgreement",
    "JudgePair",
    "ModelJudgedEvaluation",
    "ModelJudgedMean",
    "agreement",
    "combine",
    "estimate_dcg",
    "evaluate",
]
