"""Rankscope in PyTerrier: measures for `pt.Experiment`, and comparisons of its pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import rankscope as rs
from rankscope._conventions import Convention
from rankscope._settings import ScoreType
from rankscope.integrations._frames import list_measures
from rankscope.integrations.ir_measures import make_measure

if TYPE_CHECKING:
    import pandas as pd


def make_measures(
    measures: str | rs.Measure | Iterable[str | rs.Measure],
    *,
    policy: rs.Policy | str | None = None,
    convention: Convention | str | None = None,
    score_type: ScoreType | None = None,
) -> list[Any]:
    """Return measures of rankscope as PyTerrier takes them in `eval_metrics`.

    Args:
        measures: One or more measures, or their names.
        policy: As in `rankscope.evaluate`. PyTerrier takes the plain mean over queries, so a query
            that the policy leaves out makes the mean NaN.
        convention: As in `rankscope.evaluate`.
        score_type: The precision in which scores are compared (default: single precision, as in
            PyTerrier's own measures, unless a convention sets it).

    Raises:
        UsageError: ir_measures, which PyTerrier evaluates with, is not installed.
        MeasureError: A measure doesn't exist, or isn't averaged with the arithmetic mean.

    Examples:
        >>> make_measures(["nDCG@10", "AP"])
        [nDCG@10, AP]
        >>> make_measures("nDCG@10", policy="unjudged=remove")
        [nDCG@10 [unjudged=remove]]
    """
    return [
        make_measure(measure, policy=policy, convention=convention, score_type=score_type)
        for measure in list_measures(measures)
    ]


def compare(
    systems: Mapping[str, Any],
    topics: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: str | rs.Measure | Iterable[str | rs.Measure],
    **settings: Any,
) -> rs.Comparison:
    """Run pipelines on the same topics, and compare them with `rankscope.compare`.

    Args:
        systems: The pipelines by name, or the results of some as data frames.
        topics: A data frame with `qid` and `query`, and whatever else the pipelines need.
        qrels: A data frame with `qid`, `docno` and `label`. Only queries in `topics` count, as in
            `pt.Experiment`.
        measures: One or more measures, or their names.
        **settings: As in `rankscope.compare`: `baseline`, `test`, `correction`, `by`, and others.
            Scores are compared in single precision unless you set `score_type` or `convention`.

    Raises:
        UsageError: `systems` has no names, or a setting is invalid.
        InputError: Results or judgments lack a column, or there is nothing to compare.

    Examples:
        >>> import pandas as pd
        >>> topics = pd.DataFrame({"qid": ["1", "2"], "query": ["jazz", "bikes"]})
        >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 1]})
        >>> bm25 = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "score": [0.5, 0.7]})
        >>> dense = bm25.assign(docno=["a", "a"])
        >>> compare({"bm25": bm25, "dense": dense}, topics, qrels, "RR").means
        {'bm25': {'RR': 1.0}, 'dense': {'RR': 0.5}}
    """
    if not isinstance(systems, Mapping):
        raise rs.UsageError(
            f"expected pipelines by name, found {type(systems).__name__}",
            hint="write {'bm25': bm25, 'dense': dense}",
            code="bad_parameter",
        )
    results = {
        name: system if hasattr(system, "columns") else system.transform(topics)
        for name, system in systems.items()
    }
    if settings.get("convention") is None:
        settings.setdefault("score_type", "float32")
    return rs.compare(
        _select(qrels[qrels["qid"].isin(topics["qid"])], "label"),
        {name: _select(frame, "score") for name, frame in results.items()},
        list_measures(measures),
        **settings,
    )


def _select(frame: pd.DataFrame, number: str) -> pd.DataFrame:
    """Return the columns that count: those of PyTerrier also have the text of queries."""
    return frame[[name for name in ("qid", "docno", number) if name in frame]]
