"""Real runs and their judgments, from the folder that RANKSCOPE_DATA names."""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RANKSCOPE_DATA", ROOT / ".." / "shared" / "data"))

TREC = {
    "robust04": ("robust04/robust04.qrels", "robust04/robust04.bm25.top150.run"),
    **{
        f"cast21-{system}": ("cast21/cast21.qrels", f"cast21/org_{system}.run")
        for system in ("convdr", "convdr_bert", "manual_ance", "manual_ance_bert", "manual_bm25")
    },
    "lightgbm-test": ("lightgbm/rank.test.qrels", "lightgbm/rank.test.run"),
}
"""Runs in the format of TREC: judgments and run."""

OTHERS = {
    "lightgbm-train": "lightgbm/rank.train",
    "fastrank-train": "fastrank/trec_news_2018.train",
    "fastrank-test": "fastrank/trec_news_2018.test",
    "chorus": "chorus/Broad_Query_Set_individual_ratings.csv",
}
"""Data in other formats, of which `read` makes a run."""


def find(name):
    """A file or folder of the data; where it is absent, the test is skipped."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no real data: {path} is absent (RANKSCOPE_DATA names its folder)")
    return path


def paths(name):
    return [find(path) for path in (TREC[name] if name in TREC else (OTHERS[name],))]


@cache
def read(name):
    if name in TREC:
        qrels, run = paths(name)
        return _columns(qrels, 3, int), _columns(run, 4, float)
    (path,) = paths(name)
    rows = _ratings(path) if path.suffix == ".csv" else _letor(path)
    grades = defaultdict(dict)
    scores = defaultdict(dict)
    for query, document, grade, score in rows:
        grades[query][document] = grade
        scores[query][document] = score
    return dict(grades), dict(scores)


def _columns(path, column, number):
    lists = defaultdict(dict)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            lists[fields[0]][fields[2]] = number(fields[column])
    return dict(lists)


def _letor(path):
    """Lines of `grade qid:… feature:value …`, ranked by their last feature."""
    queries = _group_queries(path)
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            grade, *fields = line.split()
            query = fields[0].removeprefix("qid:") if "qid:" in line else next(queries)
            yield query, f"d{number}", int(grade), float(fields[-1].partition(":")[2])


def _group_queries(path):
    sizes = path.with_name(f"{path.name}.query")
    if sizes.exists():
        for query, size in enumerate(sizes.read_text(encoding="utf-8").split()):
            yield from [f"q{query}"] * int(size)


def _ratings(path):
    """Products that three people rated, ranked by the first of them, judged by all."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield row["query"], row["docid"], int(row["final_rating"]), float(row["agent_1_rating"])
