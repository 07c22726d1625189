"""Generated judgments and runs: everything in which tools have been seen to differ."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from random import Random

from tests.parity.peers import Lists, Qrels, Rows

QUERIES = 120
MOST_DOCUMENTS = 60

# Ids whose order by bytes is not that by code units, by case, by numbers or by locale.
STEMS = ("d", "D", "é", "e\u0301", "z", "Z", "\uffee", "\U0001f50d", "10", "9", "007", "7", "_")


@dataclass(frozen=True, slots=True)
class Case:
    """Judgments and a run, as dicts of dicts and as rows in no order."""

    qrels: Qrels
    run: Lists
    rows: Rows


def single(value):
    return float(struct.unpack("f", struct.pack("f", value))[0])


def make(seed):
    """Judgments and a run of some 120 queries."""
    random = Random(seed)
    qrels = {}
    run = {}
    for number in range(QUERIES):
        query = f"{random.choice(STEMS)}{number}"
        documents = _documents(random)
        sides = random.random()
        if sides > 0.05:
            qrels[query] = _judge(random, documents)
        if not 0.05 < sides < 0.1:
            run[query] = _score(random, documents)
    rows = [(query, document, score) for query in run for document, score in run[query].items()]
    random.shuffle(rows)
    return Case(qrels, run, rows)


def _documents(random):
    count = random.choice((1, 2, 3, 5, 8, 13, 30, MOST_DOCUMENTS))
    documents = {f"{random.choice(STEMS)}{random.randrange(4 * count)}" for _ in range(count)}
    return random.sample(sorted(documents), len(documents))


def _judge(random, documents):
    """Grades for some documents, retrieved or not; none relevant in a fifth of the queries."""
    scale = random.choice(((0, 1), (0, 1, 2), (0, 0, 0, 1, 3, 4), (-2, -1, 0, 1, 2), (0,), (-1, 0)))
    judged = random.sample(documents, random.randint(1, len(documents)))
    judged += [f"unseen{number}" for number in range(random.choice((0, 0, 1, 5, 40)))]
    grades = {document: random.choice(scale) for document in judged}
    # Where all judgments are negative, trec_eval 9 reads memory that nobody has written.
    return grades if max(grades.values()) >= 0 else grades | {"unseen": 0}


def _score(random, documents):
    """Scores for most documents, in one of the ways in which scores come."""
    retrieved = random.sample(documents, random.randint(1, len(documents)))
    way = random.randrange(8)
    if way == 0:  # many ties
        return {document: float(random.randint(0, 2)) for document in retrieved}
    if way == 1:  # one large tie
        return dict.fromkeys(retrieved, 0.5)
    if way == 2:  # equal in single precision only
        base = single(random.uniform(0.5, 2))
        return {document: base + random.randint(0, 3) * 2.0**-30 for document in retrieved}
    if way == 3:  # neighbours in single precision
        return {document: 1 + random.randint(0, 3) * 2.0**-23 for document in retrieved}
    if way == 4:  # huge, tiny, and beyond single precision
        powers = (-320, -300, -46, -44, -38, 0, 38, 39, 300)
        return {
            document: math.copysign(10.0 ** random.choice(powers), random.choice((-1, 1, 1)))
            for document in retrieved
        }
    if way == 5:  # negative, and both zeros
        return {document: random.choice((-1.5, -0.5, -0.0, 0.0)) for document in retrieved}
    if way == 6:  # by rank
        return {document: float(-rank) for rank, document in enumerate(retrieved)}
    return {document: random.gauss(0, 10) for document in retrieved}
