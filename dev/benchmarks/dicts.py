"""Read a corpus into dicts of dicts, as the callers of Python tools hold them."""

from __future__ import annotations

import random
from pathlib import Path

SHUFFLE_SEED = 7


def read_qrels(path: str) -> dict[str, dict[str, int]]:
    """Read judgments.

    Args:
        path: A qrels file.

    Returns:
        Grades by query and document, in file order.
    """
    qrels: dict[str, dict[str, int]] = {}
    with Path(path).open() as file:
        for line in file:
            query_id, _, document, grade = line.split()
            qrels.setdefault(query_id, {})[document] = int(grade)
    return qrels


def read_run(path: str, *, shuffle: bool) -> dict[str, dict[str, float]]:
    """Read a run.

    Args:
        path: A run file.
        shuffle: Whether the documents of each query come in a random order.

    Returns:
        Scores by query and document, in file order unless shuffled.
    """
    run: dict[str, dict[str, float]] = {}
    with Path(path).open() as file:
        for line in file:
            query_id, _, document, _, score, _ = line.split()
            run.setdefault(query_id, {})[document] = float(score)
    if shuffle:
        rng = random.Random(SHUFFLE_SEED)
        for query_id, scores in run.items():
            rows = list(scores.items())
            rng.shuffle(rows)
            run[query_id] = dict(rows)
    return run
