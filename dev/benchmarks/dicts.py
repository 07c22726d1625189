"""Read a corpus into dicts of dicts, as the callers of Python tools hold them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Grades = dict[str, dict[str, int]]  # to type checkers, whatever the form
    Scores = dict[str, dict[str, float]]

SHUFFLE_SEED = 7


@dataclass(frozen=True, slots=True)
class Form:
    """The types that dicts have.

    Args:
        id: Reads the id of a query or a document.
        grade: Reads a grade.
        score: Reads a score.
        shuffle: Whether the documents of each query come in a random order.
    """

    id: Callable[[str], Any] = str
    grade: Callable[[str], Any] = int
    score: Callable[[str], Any] = float
    shuffle: bool = False


def read_digits(score: str) -> int:
    """Read a score as an integer. All have six decimals, so that the order stays."""
    return int(score.replace(".", ""))


FORMS = {
    "dicts": Form(),
    "unsorted": Form(shuffle=True),
    "float-grades": Form(grade=float),
    "integer-scores": Form(score=read_digits),
    "float32-scores": Form(score=np.float32),
    "integer-ids": Form(id=int),
}


def read_dicts(form: str, qrels_path: str, run_path: str) -> tuple[Grades, Scores]:
    """Read judgments and a run.

    Args:
        form: One of `FORMS`.
        qrels_path: A qrels file.
        run_path: A run file.

    Returns:
        Grades and scores by query and document, in file order unless shuffled.
    """
    types = FORMS[form]
    qrels: Grades = {}
    with Path(qrels_path).open() as file:
        for line in file:
            query_id, _, document, grade = line.split()
            qrels.setdefault(types.id(query_id), {})[types.id(document)] = types.grade(grade)
    run: Scores = {}
    with Path(run_path).open() as file:
        for line in file:
            query_id, _, document, _, score, _ = line.split()
            run.setdefault(types.id(query_id), {})[types.id(document)] = types.score(score)
    if types.shuffle:
        rng = random.Random(SHUFFLE_SEED)
        for query_id, scores in run.items():
            rows = list(scores.items())
            rng.shuffle(rows)
            run[query_id] = dict(rows)
    return qrels, run
