"""Evaluate data frames of Spark: Spark moves the rows, and the core evaluates them in place."""

from __future__ import annotations

from rankscope.spark.compare import compare as compare
from rankscope.spark.compare import losses as losses
from rankscope.spark.evaluation import SparkEvaluation as SparkEvaluation
from rankscope.spark.evaluation import evaluate as evaluate
from rankscope.spark.windows import Windows as Windows
from rankscope.spark.windows import windows as windows
from rankscope.spark.windows import write_to_monitor as write_to_monitor

__all__ = [
    "SparkEvaluation",
    "Windows",
    "compare",
    "evaluate",
    "losses",
    "windows",
    "write_to_monitor",
]
