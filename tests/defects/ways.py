"""Evaluates one input by every way in which it can reach the library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import rankscope as rs
from rankscope import Measure

from tests.program import Program

Qrels = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]


class Ways:
    """Evaluates by dicts, rows, frames, files, the command line, rankings and tables."""

    def __init__(self, program: Program, folder: Path) -> None:
        self._program = program
        self._folder = folder

    def __call__(
        self, qrels: Qrels, run: Run, measures: Sequence[Measure | str], policy: str = "ties=doc_id"
    ) -> dict[str, float]:
        """Return the means, which must be the same by every way."""
        found = dict(rs.evaluate(qrels, run, measures, policy=policy))
        rows = [(query, doc, each) for query, docs in qrels.items() for doc, each in docs.items()]
        lists = [(query, doc, each) for query, docs in run.items() for doc, each in docs.items()]
        assert dict(rs.evaluate(iter(rows), iter(lists), measures, policy=policy)) == found
        chosen = rs.Policy.parse(policy).resolve()
        ranked = rs.Rankings.from_run(qrels, run, ties=chosen.ties)
        assert dict(ranked.evaluate(measures, policy=chosen)) == found
        if is_whole(qrels, run):
            self._check_tables(qrels, run, measures, chosen, found)
        if is_text(qrels, run):
            for frame in (pd.DataFrame, pl.DataFrame, pa.table):
                frames = frame(as_columns(rows, "relevance")), frame(as_columns(lists, "score"))
                assert dict(rs.evaluate(*frames, measures, policy=policy)) == found
            assert self._by_files(rows, lists, measures, policy) == found
        return found

    def _check_tables(
        self,
        qrels: Qrels,
        run: Run,
        measures: Sequence[Measure | str],
        policy: rs.Policy,
        found: dict[str, float],
    ) -> None:
        columns = {
            "query_id": [query for query, docs in run.items() for _ in docs],
            "doc_id": [doc for docs in run.values() for doc in docs],
            "relevance": [qrels[query].get(doc) for query, docs in run.items() for doc in docs],
            "score": [float(score) for docs in run.values() for score in docs.values()],
        }
        for frame in (dict, pd.DataFrame, pl.DataFrame, pa.table):
            ranked = rs.Rankings.from_table(frame(columns), ties=policy.ties)
            assert dict(ranked.evaluate(measures, policy=policy)) == found

    def _by_files(
        self, rows: list, lists: list, measures: Sequence[Measure | str], policy: str
    ) -> dict[str, float]:
        qrels, run = self._folder / "qrels.txt", self._folder / "run.txt"
        qrels.write_text("".join(f"{query} 0 {doc} {grade!r}\n" for query, doc, grade in rows))
        run.write_text("".join(f"{q} Q0 {doc} 0 {score!r} run\n" for q, doc, score in lists))
        found = dict(rs.evaluate(qrels, run, measures, policy=policy))
        names = [word for name in found for word in ("-m", name)]
        done = self._program.run("eval", str(qrels), str(run), *names, "--policy", policy, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["measures"] == found
        return found


def as_columns(rows: list[tuple[str, str, float]], number: str) -> dict[str, list]:
    """Return rows as columns under their usual names."""
    columns = map(list, zip(*rows, strict=True))
    return dict(zip(("query_id", "doc_id", number), columns, strict=True))


def is_whole(qrels: Qrels, run: Run) -> bool:
    """Whether rows with both a score and a grade can hold all that is judged."""
    is_retrieved = all(docs.keys() <= run.get(query, {}).keys() for query, docs in qrels.items())
    return is_retrieved and run.keys() == qrels.keys() and all(run.values())


def is_text(qrels: Qrels, run: Run) -> bool:
    """Whether rows can hold it, which have no query without a document."""
    return all(qrels.values()) and all(run.values())
