"""Measures of batches of rankings, computed where the arrays are: on the CPU or a GPU."""

from __future__ import annotations

from rankscope.array.functions import average_precision as average_precision
from rankscope.array.functions import dcg as dcg
from rankscope.array.functions import hit_rate as hit_rate
from rankscope.array.functions import ndcg as ndcg
from rankscope.array.functions import precision as precision
from rankscope.array.functions import recall as recall
from rankscope.array.functions import reciprocal_rank as reciprocal_rank
from rankscope.array.running import RunningMeans as RunningMeans
from rankscope.array.values import evaluate_batch as evaluate_batch

__all__ = [
    "RunningMeans",
    "average_precision",
    "dcg",
    "evaluate_batch",
    "hit_rate",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
]
