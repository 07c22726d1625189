"""One result of every kind that a notebook shows, of ids that the caller chooses."""

from __future__ import annotations

import random

import rankscope as rs
from rankscope import AP, RR, nDCG


class Runs:
    """Judgments of 24 queries and 12 documents, three runs, and grades of two judges."""

    def __init__(self, query, doc):
        draw = random.Random(1)
        self.qrels = {
            query(at): {doc(each): draw.choice([0, 0, 1, 2]) for each in range(12)}
            for at in range(24)
        }
        self.runs = {
            name: {
                at: {each: grade + draw.gauss(0, noise) for each, grade in grades.items()}
                for at, grades in self.qrels.items()
            }
            for name, noise in (("dense", 0.5), ("sparse", 1.0), ("old", 3.0))
        }
        self.slices = {at: query(number % 2) for number, at in enumerate(self.qrels)}
        self.judges = {
            "query": [at for at, grades in self.qrels.items() for _ in grades],
            "doc": [each for grades in self.qrels.values() for each in grades],
            "ann": [grade for grades in self.qrels.values() for grade in grades.values()],
            "bob": [draw.randrange(3) for grades in self.qrels.values() for _ in grades],
        }


def rank(of):
    return rs.Rankings.from_run(of.qrels, of.runs["dense"])


def compare_two(of):
    runs = (of.runs["sparse"], of.runs["dense"])
    return rs.diff(of.qrels, *runs, nDCG @ 5, names=("sparse", "dense"))


SHOWN = {
    "evaluation": lambda of: rs.evaluate(
        of.qrels, of.runs["dense"], [nDCG @ 5, AP, RR], interval=0.95
    ),
    "slices": lambda of: rank(of).evaluate([nDCG @ 5, AP], by=of.slices),
    "evaluations": lambda of: rs.evaluate(of.qrels, of.runs, [nDCG @ 5, AP], interval=0.95),
    "comparison": lambda of: rs.compare(of.qrels, of.runs, [nDCG @ 5], by=of.slices),
    "leaderboard": lambda of: rs.leaderboard(of.qrels, of.runs, [nDCG @ 5, AP], baseline="old"),
    "losses": lambda of: rank(of).losses(nDCG @ 5, by=of.slices),
    "explanation": lambda of: rank(of).explain(next(iter(of.qrels)), nDCG @ 5),
    "difference": compare_two,
    "moves": lambda of: compare_two(of).explain(next(iter(of.qrels))),
    "bounds": lambda of: rank(of).bounds(nDCG @ 5),
    "ties": lambda of: rank(of).ties(nDCG @ 5),
    "agreement": lambda of: rs.agreement(of.runs["dense"], of.runs["old"]),
    "judges": lambda of: rs.judges.agreement(of.judges, judges=["ann", "bob"]),
    "combined": lambda of: rs.judges.combine(of.judges, judges=["ann", "bob"]),
    "reconciliation": lambda of: rs.reconcile(of.qrels, of.runs["dense"], nDCG @ 5),
    "conventions": lambda of: rs.reconcile(of.qrels, of.runs["dense"], nDCG @ 5).differ(
        "trec_eval", "ranx_burges missing=zero"
    ),
    "discounts": lambda _: rs.measures.tabulate_discounts(5),
    "table": lambda of: rank(of).losses(nDCG @ 5),
}
