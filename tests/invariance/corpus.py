"""A run that spans many blocks of the reader and is shared out among threads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from random import Random

BLOCK = 384 * 1024
"""How many bytes the reader takes at a time."""

SHARED_ROWS = 100_000
"""So many rows in memory are shared out among threads."""

QUERIES = 440
DEPTH = 250


@dataclass(frozen=True, slots=True)
class Corpus:
    """Judgments and a run, as rows; queries are adjacent."""

    judgments: list[tuple[str, str, float]]
    rows: list[tuple[str, str, float]]

    def qrels_text(self):
        """The judgments in the format of TREC."""
        return "".join(f"{q} 0 {d} {grade!r}\n" for q, d, grade in self.judgments).encode()

    def run_text(self):
        """The run in the format of TREC."""
        return "".join(f"{q} Q0 {d} 0 {score!r} generated\n" for q, d, score in self.rows).encode()


def make():
    """Judgments and a run with ties, queries missing on either side, and empty ones."""
    random = Random(20261121)
    judgments, rows = [], []
    for number in range(QUERIES):
        query = f"query-{number}"
        documents = [f"document-{code}" for code in random.sample(range(10**6), DEPTH)]
        grades = (0.0,) if number % 11 == 0 else (-1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 4.0)
        if number % 13:
            judged = random.sample(documents, 30)
            judgments += [(query, document, random.choice(grades)) for document in judged]
            judgments += [(query, f"unseen-{code}", random.choice(grades)) for code in range(5)]
        if number % 17:
            digits = random.choice((0, 1, 6))
            scores = [round(random.uniform(-9, 9), digits) for _ in documents]
            if number % 2:
                scores.sort(reverse=True)
            rows += [(query, *pair) for pair in zip(documents, scores, strict=True)]
    return Corpus(judgments, rows)


def nested(rows):
    lists = {}
    for query, document, number in rows:
        lists.setdefault(query, {})[document] = number
    return lists


def bits(evaluation):
    """A digest of all numbers of an evaluation."""
    digest = hashlib.sha256()
    for measure in evaluation.measures:
        digest.update(evaluation.per_query(measure).tobytes())
        digest.update(evaluation[measure].hex().encode())
    digest.update(repr((evaluation.denominators, evaluation.counts)).encode())
    return digest.hexdigest()


def first_difference(one, other):
    """The first measure of the other evaluation whose values differ, or `counts`."""
    if one.counts != other.counts:
        return "counts"
    for measure in other.measures:
        same = one.per_query(measure).tobytes() == other.per_query(measure).tobytes()
        if not same or one[measure].hex() != other[measure].hex():
            return measure
    known, found = one.denominators, other.denominators
    return None if all(known[name] == found[name] for name in found) else "denominators"
