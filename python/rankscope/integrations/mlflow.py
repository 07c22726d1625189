"""Log results to MLflow, and score retrieval in `mlflow.genai.evaluate`."""

from __future__ import annotations

import math
import re
from contextlib import suppress

import rankscope as rs
from rankscope.integrations.libraries import require

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from matplotlib.axes import Axes

FOLDER = "rankscope"
"""The folder of the artifacts in a run."""


def log_result(
    result: rs.Evaluation | rs.Evaluations | rs.Comparison,
    *,
    prefix: str = "",
    step: int | None = None,
    report: rs.Report | None = None,
    tables: bool = True,
    figures: bool = True,
) -> None:
    """Log a result to the active run of MLflow, or to a new one if none is active.

    - Metrics are named like `ndcg_at_10`, with `_lower` and `_upper` if the result has intervals.
      Those of several runs begin with the run (`bm25/ndcg_at_10`); those of a comparison, with
      both runs (`dense vs bm25/ndcg_at_10_difference`).
    - Tables, figures and the report are artifacts in the folder `rankscope`. Tables can be read
      with `mlflow.load_table`.
    - The policy, the convention and the version of rankscope are tags.

    Args:
        result: The result of `evaluate`, of `compare`, or of one of their variants.
        prefix: Text before the names of metrics, tags and artifacts, such as `valid/`.
        step: The step of the metrics, which is also in the names of artifacts.
        report: The result of `rankscope.report`, which is logged as an HTML page.
        tables: Whether to log the values of queries, slices and comparisons.
        figures: Whether to log plots; which there are depends on the result. They need Matplotlib.

    Raises:
        UsageError: MLflow is not installed, the result is something else, or two names of runs
            differ only in characters that MLflow doesn't allow.

    Examples:
        >>> import mlflow  # doctest: +SKIP
        >>> with mlflow.start_run():  # doctest: +SKIP
        ...     log_result(rs.evaluate(qrels, run, ["nDCG@10", "AP"], interval=0.95))
    """
    mlflow = require("mlflow")
    found = _gather(result)
    mlflow.set_tags({f"{prefix}rankscope.{name}": text for name, text in found.tags.items()})
    mlflow.log_metrics({prefix + name: value for name, value in found.metrics.items()}, step=step)
    folder = f"{FOLDER}/{prefix}"
    ending = "" if step is None else f"-{step}"
    if tables:
        for name, columns in found.tables.items():
            _log_table(mlflow, columns, f"{folder}{name}{ending}.json")
        for name, text in found.texts.items():
            mlflow.log_text(text, f"{folder}{name}{ending}.txt")
    if report is not None:
        mlflow.log_text(report.to_html(), f"{folder}report{ending}.html")
    if figures:
        for name, axes in _draw(result):
            mlflow.log_figure(axes.figure, f"{folder}{name}{ending}.png")


def make_scorer(
    measure: rs.Measure | str,
    *,
    expectation: str = "relevant",
    policy: rs.Policy | str | None = None,
    name: str | None = None,
) -> Any:  # noqa: ANN401 - MLflow may not be installed
    """Return a scorer for `mlflow.genai.evaluate` that values the ranked list of each question.

    The outputs of a row are the ranked document or chunk ids, best first, or a mapping of id to
    score. Its expectations name the relevant ones.

    Args:
        measure: The measure, or its name.
        expectation: The key in the expectations: a list of relevant ids, or a mapping of id to
            grade.
        policy: As in `rankscope.evaluate`.
        name: The name of the scorer (default: the plain name of the measure, `ndcg_at_10`).

    Raises:
        UsageError: MLflow is not installed.
        MeasureError: The measure doesn't exist.

    Examples:
        >>> rows = [  # doctest: +SKIP
        ...     {
        ...         "inputs": {"question": "How do I reset my password?"},
        ...         "outputs": ["chunk-7", "chunk-2"],
        ...         "expectations": {"relevant": ["chunk-2"]},
        ...     }
        ... ]
        >>> mlflow.genai.evaluate(data=rows, scorers=[make_scorer("nDCG@10")])  # doctest: +SKIP
    """
    scorers = require("mlflow.genai.scorers")
    chosen = rs.parse(measure)

    def value(outputs: Any, expectations: Any) -> float:  # noqa: ANN401 - what MLflow has of a row
        if expectation not in (expectations or {}):
            raise rs.UsageError(
                f"the row has no expectation {expectation!r}",
                hint='add "expectations": {"relevant": [...]}, or set expectation=',
                code="bad_parameter",
            )
        judged = _read_judgments(expectations[expectation])
        ranked = _read_ranking(outputs)
        if not ranked:  # retrieved nothing, which is a value and no mistake
            ranked = {"": 0.0} if "" not in judged else {" ": 0.0}
        return rs.evaluate({"q": judged}, {"q": ranked}, chosen, policy=policy)[chosen]

    made: Any = scorers.scorer(value, name=name or chosen.plain_name)
    return made
