"""Examples of the README and the pages with one thing wrong: the right number, or what to write.

Each row is a call with its value, or with the code of its error and a part of its hint. Calls that
follow a hint have the value that was wanted.
"""

from __future__ import annotations

from math import log2

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from rankscope import AP, RR, P, nDCG
from rankscope.sql import write_sql

from tests.cli.command import run
from tests.refusals import refused
from tests.trec import write_qrels, write_run

QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.4}, "q2": {"d4": 0.7, "d5": 0.6}}
NEW = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.4}, "q2": {"d5": 0.7, "d4": 0.6}}
RUNS = {"old": RUN, "new": NEW}
LISTS = {query: [*docs] for query, docs in RUN.items()}
LOG = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2", "q2"],
        "doc_id": ["d1", "d2", "d3", "d4", "d5"],
        "score": [0.8, 0.9, 0.4, 0.7, 0.6],
        "relevance": [3, 0, 1, 1, 0],
        "country": ["de", "de", "de", "fr", "fr"],
    }
)
TWO = LOG.assign(old=LOG["score"], new=[0.9, 0.8, 0.4, 0.6, 0.7])
GRADES, SCORES, QUERIES = LOG["relevance"], LOG["score"], LOG["query_id"]
SIZES = QUERIES.value_counts()
RANKED = LOG.assign(rank=[2, 1, 3, 1, 2]).drop(columns="score")
SESSIONS = pd.DataFrame(
    {
        "user_id": [1, 1, 1, 2, 2, 2],
        "item_id": [1, 2, 3, 1, 3, 2],
        "timestamp": pd.date_range("2026-01-01", periods=6),
    }
)
M = "nDCG@10"
# q1 has the grades 0, 3, 1; q2 has 1, 0.
VALUE = ((3 / log2(3) + 1 / 2) / (3 + 1 / log2(3)) + 1) / 2
SWAPPED = "grades_like_scores"


def mean(evaluation):
    return evaluation[M]


RIGHT = {
    "capitals": lambda: mean(rs.evaluate(QRELS, RUN, "NDCG@10")),
    "small letters": lambda: mean(rs.evaluate(QRELS, RUN, "ndcg@10")),
    "set of measures": lambda: mean(rs.evaluate(QRELS, RUN, {M})),
    "name of trec_eval": lambda: mean(rs.evaluate(QRELS, RUN, "ndcg_cut_10")),
    "lists": lambda: mean(rs.evaluate(QRELS, LISTS, M)),
    "pairs": lambda: mean(rs.evaluate(QRELS, {q: [*d.items()] for q, d in RUN.items()}, M)),
    "usual names": lambda: mean(rs.evaluate(LOG.rename(columns={"relevance": "rel"}), M)),
    "other names": lambda: mean(rs.evaluate(LOG.rename(columns={"query_id": "qid"}), M)),
    "table twice": lambda: mean(rs.evaluate(LOG, LOG, M)),
    "index": lambda: mean(rs.evaluate(LOG.set_index("query_id"), M)),
    "records": lambda: mean(rs.evaluate(LOG.to_dict("records"), M)),
    "columns": lambda: mean(rs.evaluate(LOG.to_dict("list"), M)),
    "lazy frame": lambda: mean(rs.evaluate(pl.DataFrame(LOG.to_dict("list")).lazy(), M)),
    "ranks": lambda: mean(rs.evaluate(RANKED, M)),
    "ranks from 0": lambda: mean(rs.evaluate(RANKED.assign(rank=RANKED["rank"] - 1), M)),
    "groups": lambda: rs.ndcg_score(GRADES, SCORES, groups=QUERIES),
    "sizes in order": lambda: rs.ndcg_score(GRADES, SCORES, groups=LOG.groupby("query_id").size()),
    "sizes in a list": lambda: rs.ndcg_score(GRADES, SCORES, groups=[3, 2]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_can_be_meant_has_the_right_value(name):
    assert RIGHT[name]() == pytest.approx(VALUE, abs=1e-15)


WRONG = [
    # measures
    (lambda: rs.evaluate(QRELS, RUN, "nDGC@10"), "unknown_measure", M),
    (lambda: rs.evaluate(QRELS, RUN, "nDCG10"), "unknown_measure", "'nDCG'"),
    (lambda: rs.evaluate(QRELS, RUN, "nDCG 10"), "bad_parameter", M),
    (lambda: rs.evaluate(QRELS, RUN, "nDCG@k"), "bad_parameter", M),
    (lambda: rs.evaluate(QRELS, RUN, "nDCG@0"), "bad_parameter", M),
    (lambda: rs.evaluate(QRELS, RUN, ["nDCG", 10]), "unknown_measure", "nDCG @ 10"),
    (lambda: rs.evaluate(QRELS, RUN, rs.ndcg), "unknown_measure", M),
    (lambda: nDCG @ "10", "bad_parameter", M),
    (lambda: nDCG(rel=2) @ 10, "bad_parameter", "gain"),
    (lambda: rs.evaluate(QRELS, RUN, P), "bad_parameter", "P@10"),
    (lambda: rs.evaluate(QRELS, M, RUN), "unknown_measure", "measures come last"),
    (lambda: rs.evaluate("qrels.txt", M, "run.txt"), "unknown_measure", "come last"),
    (lambda: rs.diff(QRELS, RUN, M, NEW), "unknown_measure", "come last"),
    (lambda: rs.evaluate(QRELS, RUN), "no_measures", "evaluate(judgments, run, ['nDCG@10', 'AP'])"),
    (lambda: rs.evaluate(LOG), "no_measures", "evaluate(table, ['nDCG@10', 'AP'])"),
    (lambda: rs.compare(QRELS, RUNS), "no_measures", "compare(judgments, run, ['nDCG@10', 'AP'])"),
    (lambda: rs.diff(QRELS, RUN, NEW), "no_measures", "run_a, run_b, 'nDCG@10'"),
    # arguments
    (lambda: rs.evaluate(QRELS, RUN, metrics=[M]), "unknown_argument", "'measures'"),
    (lambda: rs.evaluate(QRELS, RUN, "nDCG", k=10), "unknown_argument", "'nDCG@10'"),
    (lambda: rs.evaluate(QRELS, RUN, M, ties="average"), "unknown_argument", "policy='ties="),
    (lambda: rs.evaluate(QRELS, RUN, M, polcy="empty=skip"), "unknown_argument", "'policy'"),
    (lambda: rs.evaluate(QRELS, RUN, M, interval=95), "bad_interval", "0.95"),
    (lambda: rs.evaluate(QRELS, RUN, M, policy="empty=ignore"), "bad_policy", "zero"),
    (lambda: rs.evaluate(QRELS, RUN, M, policy={"empty": "skip"}), "bad_policy", "empty="),
    (lambda: rs.evaluate(QRELS, RUN, M, convention="trec-eval"), "unknown_convention", "_"),
    (lambda: rs.evaluate(QRELS, RUN, M, by="country"), "unknown_attribute", "attributes="),
    (lambda: rs.compare(QRELS, RUNS, M, alpha=0.05), "unknown_argument", "'interval'"),
    (lambda: rs.Policy("empty=skip"), "bad_policy", "Policy.parse('empty=skip')"),
    (lambda: rs.ndcg_score(GRADES, SCORES, QUERIES), "unknown_argument", "groups="),
    (lambda: rs.attribute(["click"], "click"), "unknown_argument", "positive="),
    (lambda: rs.explain([4, 2, 5], k="3"), "bad_parameter", "k=3"),
    (lambda: rs.power([0.1, 0.2], [0.2, 0.4], effect="0.1"), "bad_parameter", "effect=0.05"),
    # columns
    (lambda: rs.evaluate(LOG, M, score="relevance"), "columns", "score='…'"),
    (lambda: rs.evaluate(LOG, M, score="scores"), "columns", "'score'"),
    (lambda: rs.evaluate(LOG, M, query_col="query_id"), "unknown_argument", "'query'"),
    (lambda: rs.evaluate(LOG, M, by="land"), "columns", "name of one of these"),
    (lambda: rs.evaluate(LOG.drop(columns="relevance"), M), "columns", "relevance="),
    (lambda: rs.evaluate(LOG.assign(score=["1"] * 5), M), "score_not_number", "convert"),
    (lambda: rs.evaluate(LOG["doc_id"], M), "input_type", "data frame"),
    (lambda: rs.evaluate(LOG, M, attributes=LOG), "bad_parameter", "remove attributes"),
    (lambda: rs.evaluate(QRELS, RUN, M, labels="click"), "bad_parameter", "remove labels"),
    (lambda: rs.evaluate(LOG, M, score_type="float32"), "bad_parameter", "round the scores"),
    (lambda: rs.evaluate(LOG, M, columns={"score": "a"}), "unknown_argument", "arguments are"),
    (lambda: rs.compare(QRELS, RUNS, M, memory="1GiB"), "bad_memory", "remove memory"),
    (lambda: rs.compare(TWO, M), "bad_parameter", "scores=['old', 'new']"),
    (lambda: rs.compare(TWO, M, scores="new"), "bad_parameter", "scores=["),
    (lambda: rs.compare(TWO, M, scores=["old", "newer"]), "columns", "'new'"),
    # runs, lists and groups
    (lambda: rs.compare(QRELS, [RUN, NEW], M), "bad_parameter", "{'bm25': run_a"),
    (lambda: rs.compare(QRELS, RUN, NEW, M), "unknown_argument", "runs=, measures="),
    (lambda: rs.compare(QRELS, RUNS, M, baseline="b"), "bad_parameter", "old, new"),
    (lambda: rs.gate(QRELS, RUN, NEW, M), "bad_budget", "{'nDCG@10': 0.005}"),
    (lambda: rs.gate(LOG, budgets={"RR": 0.1}), "bad_parameter", "budgets="),
    (lambda: rs.gate(QRELS, RUN, NEW, {M: -0.01}), "bad_budget", "0.005"),
    (lambda: rs.explain(QRELS, RUN, M), "bad_parameter", "query_id='q1'"),
    (lambda: rs.explain(QRELS, RUN, M, query_id="q9"), "unknown_query", "'q1', 'q2'"),
    (lambda: rs.Rankings.from_lists([3, 2, 1]), "not_numeric", "[[3, 2, 0], [1, 0]]"),
    (lambda: rs.Rankings.from_lists({"q": [3, 2]}), "not_numeric", "[[3, 2, 0], [1, 0]]"),
    (lambda: rs.ndcg_score(GRADES, SCORES), "groups_needed", "groups=df['query']"),
    (lambda: rs.ndcg_score(GRADES, SCORES, groups=SIZES[::-1]), "index_order", "df['query']"),
    (lambda: rs.ndcg_score(GRADES, SCORES, groups="query_id"), "bad_parameter", "df['query']"),
    (lambda: rs.split(SESSIONS), "bad_parameter", "last='14d'"),
    (lambda: rs.split(SESSIONS, last=14), "bad_parameter", "'14d'"),
    (lambda: rs.split(SESSIONS.drop(columns="timestamp"), last=0.2), "columns", "time="),
    (lambda: rs.fuse(RUNS, "rff"), "unknown_fusion", "rrf"),
    (lambda: write_sql("a", "b", M, dialect="mysql"), "bad_parameter", "duckdb"),
]


@pytest.mark.parametrize(("call", "code", "hint"), WRONG)
def test_what_cannot_be_meant_says_what_to_write(call, code, hint):
    assert hint in refused(call, code).hint


FOLLOWED = {
    "policy='ties=average'": lambda: mean(rs.evaluate(QRELS, RUN, M, policy="ties=average")),
    "measures": lambda: mean(rs.evaluate(QRELS, RUN, measures=[M])),
    "measures come last": lambda: mean(rs.evaluate(QRELS, RUN, [M])),
    "nDCG @ 10": lambda: mean(rs.evaluate(QRELS, RUN, nDCG @ 10)),
    "parsed": lambda: mean(rs.evaluate(QRELS, RUN, M, policy=rs.Policy.parse("empty=skip"))),
    "two columns": lambda: mean(rs.evaluate(LOG, M, relevance="relevance", score="score")),
    "query_id": lambda: 2 * VALUE - 1 + (1 - rs.explain(QRELS, RUN, M, query_id="q2").value),
    "baseline": lambda: rs.compare(QRELS, RUNS, M, baseline="old").means["old"][M],
    "scores": lambda: rs.compare(TWO, M, scores=["old", "new"]).means["old"][M],
    "sizes as an array": lambda: rs.ndcg_score(GRADES, SCORES, groups=SIZES.to_numpy()),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_hint_works_when_it_is_followed(name):
    expected = 2 * VALUE - 1 if name == "query_id" else VALUE
    assert FOLLOWED[name]() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rs.evaluate(RUN, QRELS, M),
        lambda: rs.evaluate(LOG, M, score="relevance", relevance="score"),
        lambda: rs.evaluate(np.array([[0.8, 0.9, 0.4]]), np.array([[3, 0, 1]]), M),
        lambda: rs.Rankings.from_run(RUN, QRELS).evaluate([AP, RR]),
        lambda: rs.evaluate(LOG.rename(columns={"score": "relevance", "relevance": "score"}), M),
    ],
)
def test_scores_in_place_of_grades_are_noted(call):
    assert [note.code for note in call().notes if note.code == SWAPPED] == [SWAPPED]


@pytest.mark.parametrize("grades", [[0.5, 1], [0, 0.5], [0.5, 0.5], [1, 2.5]])
def test_grades_that_are_whole_at_an_end_or_alike_are_not_noted(grades):
    judged = {"q": dict(zip("ab", grades, strict=True))}
    assert SWAPPED not in rs.evaluate(judged, {"q": ["a"]}, M).diagnostics


COMMANDS = {
    "eval run.txt qrels.txt -m nDCG@10": (3, "swapped"),
    "eval qrels.txt run.txt nDCG@10": (2, "-m nDCG@10"),
    "eval qrels.txt run.txt -m nDCG 10": (2, "nDCG@1,5,10"),
    "eval qrels.txt run.txt --metric nDCG@10": (2, "-m nDCG@10"),
    "eval qrels.txt run.txt -m nDCG --k 10": (2, "-m nDCG@10"),
    "eval qrels.txt run.txt -m nDCG@10 --ties average": (2, "--policy ties="),
    "eval qrels.txt run.txt -m nDCG@10 --interval 95": (2, "0.95"),
    "eval qrels.txt -m nDCG@10": (2, "add a run"),
    "evaluate qrels.txt run.txt": (2, "did you mean eval?"),
    "compare qrels.txt run.txt -m nDCG@10": (2, "QRELS RUN_A RUN_B"),
    "gate qrels.txt run.txt run.txt --max-drop 0.01": (2, "nDCG@10=0.005"),
    "explain --grades 3,1,2": (2, "blanks between"),
    "explain qrels.txt run.txt --query 1": (2, "'q1', 'q2'"),
    "measures ncdg": (2, "'nDCG'"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_with_one_thing_wrong_says_what_to_write(command, tmp_path):
    write_qrels(tmp_path / "qrels.txt", QRELS)
    write_run(tmp_path / "run.txt", RUN)
    status, hint = COMMANDS[command]
    done = run(*command.split(), folder=str(tmp_path))
    assert done.returncode == status
    assert hint in done.stderr.decode()
