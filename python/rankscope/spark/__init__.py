"""Evaluate data frames of Spark: Spark moves the rows, and the core evaluates them in place."""

from __future__ import annotations

from rankscope.spark.compare import compare as compare
from rankscope.spark.evaluate import evaluate as evaluate
from rankscope.spark.evaluate import evaluate_table as evaluate_table
from rankscope.spark.evaluation import SparkEvaluation as SparkEvaluation
from rankscope.spark.losses import losses as losses

__all__ = ["SparkEvaluation", "compare", "evaluate", "evaluate_table", "losses"]
