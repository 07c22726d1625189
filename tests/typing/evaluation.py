"""How the public names are typed; checked by the type checker, never run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, assert_type

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import rankscope as rs
from numpy.typing import NDArray
from rankscope import RBP, P, nDCG


def evaluate_everything(path: Path, rows: list[tuple[str, str, float]]) -> None:
    """Call what people call."""
    from_paths = rs.evaluate(path, "run.trec.gz", [nDCG @ 10, "AP", P(rel=2) @ 5], threads=2)
    from_rows = rs.evaluate(rows, iter(rows), RBP(p=0.9), policy=rs.Policy(empty="skip"))
    from_dicts = rs.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5}}, "RR", policy="missing=skip")
    assert_type(from_paths, rs.Evaluation)
    assert_type(from_rows["RBP(p=0.9)"], float)
    assert_type(from_dicts.per_query("RR"), NDArray[np.float64])
    assert_type(from_dicts.to_pandas(), pd.DataFrame)
    assert_type(from_dicts.to_polars(names="plain"), pl.DataFrame)
    assert_type(from_dicts.to_arrow(), pa.Table)
    assert_type(from_dicts.counts.unjudged_at_k, dict[int | None, int])
    assert_type(nDCG(gain="exp2") @ 10, rs.Measure)


def evaluate_lists(relevant: dict[str, set[str]], recommended: dict[int, list[int]]) -> None:
    """Call with ids alone."""
    assert_type(rs.evaluate(relevant, {"q": ["d2", "d1"]}, "RR"), rs.Evaluation)
    assert_type(rs.evaluate({7: {1, 2}}, recommended, "RR"), rs.Evaluation)
    assert_type(rs.evaluate(relevant, {"a": {"q": ["d2", "d1"]}}, "RR"), rs.Evaluations)
    assert_type(rs.Rankings.from_run(relevant, recommended), rs.Rankings)


def evaluate_frames(frame: pd.DataFrame, table: pa.Table, lazy: pl.LazyFrame) -> None:
    """Call with what holds columns."""
    assert_type(rs.evaluate(table, frame, "AP"), rs.Evaluation)
    assert_type(rs.evaluate(rs.read_qrels(lazy), lazy.collect(), "AP"), rs.Evaluation)


def compare_runs(path: Path, runs: dict[str, dict[str, dict[str, float]]]) -> None:
    """Call with several runs by name."""
    assert_type(rs.evaluate(path, runs, "AP"), rs.Evaluations)
    assert_type(rs.evaluate(path, {"a": "a.run", "b": "b.run"}, "AP")["a"], rs.Evaluation)
    found = rs.compare(path, runs, ["AP", nDCG @ 10], test="t", baseline="old")
    assert_type(found["AP", "new"].difference, float)
    rs.compare(path, runs, "AP", test="z")  # type: ignore[arg-type]


def keep_rankings(path: Path) -> None:
    """Make the columns that later questions are asked of."""
    rankings = rs.Rankings.from_run(rs.read_qrels(path), path, ties="input")
    assert_type(rankings.relevance, NDArray[np.float64])
    assert_type(rankings.offsets, NDArray[np.int64])
    assert_type(rankings.evaluate([nDCG]), rs.Evaluation)


def write_policies() -> None:
    """Make policies as people write them; words that no field has are errors."""
    policy = rs.Policy(empty="skip", ties="average", unjudged=0.5)
    assert_type(policy.missing, Literal["zero", "skip", "error"])
    rs.Policy(empty="never")  # type: ignore[arg-type]
    rs.Policy(tie="average")  # type: ignore[call-arg]
    policy.empty = "zero"  # type: ignore[misc]
    rs.evaluate({}, {}, "RR", duplicates="last")  # type: ignore[call-overload]
