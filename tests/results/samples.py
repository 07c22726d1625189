"""One of each public result, on small data."""

from __future__ import annotations

import numpy as np
import rankscope as rs
from rankscope.sql import write_sql

QUERIES = [f"q{n}" for n in range(24)]
QRELS = {query: {"a": 3, "b": 0, "c": 1 + n % 2} for n, query in enumerate(QUERIES)}
OLD = {query: {"a": 0.5 + n / 99, "b": 0.55, "x": 0.2} for n, query in enumerate(QUERIES)}
NEW = {query: {"c": 0.5 + n / 99, "b": 0.55, "a": 0.2} for n, query in enumerate(QUERIES)}
TABLE = {
    "query_id": [query for query in QUERIES for _ in range(3)],
    "doc_id": ["a", "b", "c"] * len(QUERIES),
    "score": [float(n * 7 % 5) for n in range(3 * len(QUERIES))],
    "relevance": [n * 5 % 4 for n in range(3 * len(QUERIES))],
    "country": ["de" if n % 3 else "fr" for n in range(len(QUERIES)) for _ in range(3)],
}
JUDGED = {
    "query": [query for query in QUERIES for _ in range(3)],
    "doc": ["a", "b", "c"] * len(QUERIES),
    "ann": [n % 3 for n in range(3 * len(QUERIES))],
    "ben": [min(n % 3 + (n % 5 == 0), 2) for n in range(3 * len(QUERIES))],
}


def rank(run=OLD):
    """Rankings whose judgments were read apart."""
    return rs.Rankings.from_run(QRELS, run)


def rank_table():
    return rs.Rankings.from_table(TABLE, attributes=["country"])


SAMPLES = {
    "Items": lambda: rs.read_items(history=QRELS, items={"d1": "a", "d2": ["b", "c"]}),
    "Qrels": lambda: rs.read_qrels(QRELS),
    "Run": lambda: rs.read_run(OLD),
    "Rankings": rank,
    "Rankings of a table": rank_table,
    "Rankings of arrays": lambda: rs.Rankings.from_arrays([[1, 0, 0.5]], [[1, 2, 2]]),
    "Rankings of lists": lambda: rs.Rankings.from_lists([[1, 0, 2]], ideal=[[3, 1, 0]]),
    "Evaluation": lambda: rs.evaluate(QRELS, OLD, ["nDCG@10", "AP", "NumRel"], interval=0.9),
    "Evaluation of a convention": lambda: rs.evaluate(QRELS, OLD, "nDCG@3", convention="sklearn"),
    "Evaluation of ratios": lambda: rs.evaluate(
        QRELS, OLD, ["nDCG@2", "P@2"], policy="aggregate=ratio_of_sums"
    ),
    "Evaluation with weights": lambda: rs.evaluate(
        QRELS, OLD, ["nDCG@2"], weights=[*range(24)], policy="missing=skip,empty=skip"
    ),
    "Evaluation by slice": lambda: rs.evaluate(TABLE, ["nDCG@10"], by="country"),
    "Evaluations": lambda: rs.evaluate(QRELS, {"old": OLD, "new": NEW}, ["nDCG@10", "AP"]),
    "Losses": lambda: rank().losses("nDCG@2"),
    "Losses by slice": lambda: rank_table().losses("nDCG@2", by="country", interval=0.9),
    "Losses of stages": lambda: rank().losses("nDCG@2", stages={"retriever": NEW}),
    "Bounds": lambda: rank().bounds("nDCG@2"),
    "Bounds of a difference": lambda: rank().bounds("nDCG@2", against=rank(NEW)),
    "SqlStatements": lambda: write_sql("qrels", "run", ["nDCG@2", "RR"], by="country"),
    "TieAudit": lambda: rank_table().ties("nDCG@2"),
    "Explanation": lambda: rank().explain("q1", "nDCG@2"),
    "RelevanceExplanation": lambda: rank().explain("q1", "AP"),
    "Comparison": lambda: rs.compare(QRELS, {"old": OLD, "new": NEW}, ["nDCG@2", "AP"]),
    "Comparison by slice": lambda: rs.compare(
        {**TABLE, "other": TABLE["relevance"]}, "nDCG@2", scores=["score", "other"], by="country"
    ),
    "Leaderboard": lambda: rs.leaderboard(
        QRELS, {"old": OLD, "new": NEW}, ["nDCG@2", "AP"], baseline="old"
    ),
    "Split": lambda: rs.split(
        {"user_id": [1, 1, 2, 2], "item_id": ["a", "b", "b", "a"], "timestamp": [1, 2, 3, 4]},
        last_per_user=1,
    ),
    "RunDifference": lambda: rs.diff(QRELS, OLD, NEW, "nDCG@2"),
    "DocumentMoves": lambda: rs.diff(QRELS, OLD, NEW, "nDCG@2").explain("q1"),
    "GateResult": lambda: rs.gate(QRELS, OLD, NEW, {"nDCG@2": 0.5}),
    "Report": lambda: rs.report(QRELS, {"old": OLD, "new": NEW}),
    "Reconciliation": lambda: rs.reconcile(QRELS, OLD, "nDCG@2", got=0.3),
    "Difference": lambda: rs.reconcile(QRELS, OLD, "nDCG@2").differ("trec_eval", "lightgbm"),
    "FusedRun": lambda: rs.fuse([OLD, NEW], "combmnz"),
    "FusionFit": lambda: rs.fit_fusion(QRELS, [OLD, NEW], "AP"),
    "RankedLists": lambda: rs.measures.RankedLists(
        *(np.array(part) for part in ([1.0, 0.0], [0, 2], [1.0], [0, 1]))
    ),
    "RunAgreement": lambda: rs.agreement(OLD, NEW),
    "JudgeAgreement": lambda: rs.judges.agreement(JUDGED, judges=["ann", "ben"]),
    "CombinedJudgments": lambda: rs.judges.combine(JUDGED, judges=["ann", "ben"]),
    "Discounts": lambda: rs.measures.tabulate_discounts(5),
    "Power": lambda: rs.power(standard_deviation=0.2, n=250, effect=[0.01]),
    "OffPolicyEvaluation": lambda: rs.clicks.evaluate_off_policy(
        {
            "item": ["a", "b"] * 200,
            "click": [1, 0, 1, 0, 0, 0, 0, 1] * 50,
            "propensity": [0.5] * 400,
        },
        target={"a": 0.9, "b": 0.1},
    ),
    "ModelJudgedEvaluation": lambda: rs.judges.evaluate(QRELS, QRELS, OLD, "nDCG@2"),
    "Letor": lambda: rs.read_letor(b"2 qid:7 1:0.5\n0 qid:7 1:0.1\n1 qid:8 1:0.3\n"),
    "Diagnostic": lambda: rs.evaluate({1: {2: 0}}, {1: {2: 1.0}}, "AP").notes[0],
    "Table": lambda: rs.Table({"a": [1, None], "b": lambda: ["x", "y"]}),
    "Policy": lambda: rs.Policy(empty="skip"),
    "Measure": lambda: rs.nDCG(gain={0: 0, 1: 3}) @ 10,
    "Interval": lambda: rs.Interval(0.9),
    "Budget": lambda: rs.Budget("nDCG@2", max_drop=0.1),
    "File": lambda: rs.File("qrels.txt"),
}
