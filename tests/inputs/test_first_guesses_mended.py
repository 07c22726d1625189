"""First guesses that gave wrong numbers in silence, at every entrance that can carry them."""

from __future__ import annotations

from functools import partial
from math import log2

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope.sql import write_sql

from tests.cli.command import run as run_program
from tests.refusals import refused
from tests.tabular import ENTRANCES, enter
from tests.trec import write_qrels, write_run

M = "nDCG@10"

# Sizes of groups in a Series, whose index names the queries.

ROWS = pd.DataFrame({"q": [*"aabbb"], "y": [0, 3, 1, 0, 2], "s": [0.9, 0.8, 0.7, 0.6, 0.5]})


def ndcg(*grades):
    """nDCG of one list, whose documents are all that is judged."""
    gains = [sum(g / log2(at + 2) for at, g in enumerate(order)) for order in ordered(grades)]
    return gains[0] / gains[1]


def ordered(grades):
    return grades, sorted(grades, reverse=True)


def mean(rankings):
    return rankings.evaluate(M)[M]


OF_GROUPS = {
    "ndcg_score": lambda rows, sizes: rs.ndcg_score(rows.y, rows.s, groups=sizes),
    "ndcg": lambda rows, sizes: rs.ndcg(rows.y, groups=sizes).mean(),
    "from_arrays": lambda rows, sizes: mean(rs.Rankings.from_arrays(rows.y, rows.s, groups=sizes)),
    "from_groups": lambda rows, sizes: mean(rs.Rankings.from_groups(rows.y, rows.s, sizes)),
}
COUNTED = ROWS.q.value_counts()
TURNED = ROWS.iloc[[2, 3, 4, 0, 1]]
NAMED = TURNED.set_index("q")
RIGHT_SIZES = {
    "groupby": (ROWS, ROWS.groupby("q").size()),
    "as they come": (ROWS, ROWS.q.value_counts(sort=False)),
    "sorted counts": (ROWS, COUNTED.sort_index()),
    "an array": (ROWS, np.array([2, 3])),
    "no names": (ROWS, pd.Series([2, 3])),
    "rows with names": (NAMED, NAMED.groupby("q", sort=False).size()),
    "two levels": (
        ROWS.set_index(["q", "y"], drop=False).rename_axis(["q", "d"]),
        ROWS.groupby("q").size(),
    ),
}
WRONG_SIZES = {
    "counts": (ROWS, COUNTED),
    "descending": (ROWS, ROWS.groupby("q").size().sort_index(ascending=False)),
    "counts of integers": (ROWS, ROWS.assign(q=ROWS.q.map({"a": 1, "b": 2})).q.value_counts()),
    "rows with names": (NAMED, NAMED.groupby("q").size()),
    "one name missing": (NAMED, pd.Series([3, 2], index=pd.Index(["b", "c"], name="q"))),
    "unknown order": (TURNED, TURNED.q.value_counts(sort=False)),
}


@pytest.mark.parametrize("entrance", OF_GROUPS)
@pytest.mark.parametrize("case", RIGHT_SIZES)
def test_sizes_in_the_order_of_the_rows_are_taken(entrance, case):
    rows, sizes = RIGHT_SIZES[case]
    expected = (ndcg(0, 3) + ndcg(1, 0, 2)) / 2
    assert OF_GROUPS[entrance](rows, sizes) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("entrance", OF_GROUPS)
@pytest.mark.parametrize("case", WRONG_SIZES)
def test_sizes_in_another_order_are_refused(entrance, case):
    rows, sizes = WRONG_SIZES[case]
    error = refused(lambda: OF_GROUPS[entrance](rows, sizes), "index_order", "in another order")
    assert "groups=df['query']" in error.hint


def test_the_ways_out_of_sizes_work():
    expected = pytest.approx((ndcg(0, 3) + ndcg(1, 0, 2)) / 2, abs=1e-15)
    assert rs.ndcg_score(ROWS.y, ROWS.s, groups=ROWS.q) == expected
    sizes = TURNED.q.value_counts(sort=False).to_numpy()
    assert rs.ndcg_score(TURNED.y, TURNED.s, groups=sizes) == expected


# A query that is itself a document.

JUDGED = {"d1": {"d2": 1, "d3": 2}, "d2": {"d1": 1}, "q": {"d1": 1}}
FOUND = {
    "d1": {"d1": 9.0, "d3": 8.0, "d4": 7.0, "d2": 6.0},
    "d2": {"d3": 3.0, "d2": 3.0, "d1": 3.0},
    "q": {"d1": 1.0},
}
OTHERS = {query: {d: s for d, s in docs.items() if d != query} for query, docs in FOUND.items()}
PAIRS = [(query, doc, score) for query, docs in FOUND.items() for doc, score in docs.items()]
NAMES = ["query_id", "doc_id", "score"]
FRAME = pd.DataFrame(PAIRS, columns=NAMES)
TABLE = pa.Table.from_pandas(FRAME)
FORMS = {
    "ranked lists": lambda _: {q: sorted(d, key=d.get, reverse=True) for q, d in FOUND.items()},
    "by query": lambda _: FOUND,
    "rows": lambda _: PAIRS,
    "pandas, categories": lambda _: FRAME.astype({"query_id": "category", "doc_id": "category"}),
    "fused": lambda _: rs.fuse({"a": FOUND, "b": FOUND}, "combmax"),
    "trec": lambda folder: write_run(folder / "a.run", FOUND),
    "scattered": lambda folder: enter("parquet", TABLE.take([0, 4, 1, 7, 5, 2, 6, 3]), folder),
    **{form: partial(enter, form, FRAME.to_dict("list")) for form in ENTRANCES},
}


@pytest.mark.parametrize("form", FORMS)
def test_the_document_of_the_query_is_left_out_of_every_run(form, tmp_path):
    run = FORMS[form](tmp_path)
    measures = ["nDCG@10", "RR", "P@2", "Judged@3"]
    others = OTHERS
    if form == "ranked lists":  # which have no ties
        others = {query: [doc for doc in docs if doc != query] for query, docs in run.items()}
    expected = rs.evaluate(JUDGED, others, measures)
    found = rs.evaluate(JUDGED, run, measures, ignore_same=True)
    assert found.to_dict() == expected.to_dict()
    again = rs.Rankings.from_run(JUDGED, FORMS[form](tmp_path), ignore_same=True)
    assert again.evaluate(measures).to_dict() == expected.to_dict()
    assert again.doc_texts("d1") == ["d3", "d4", "d2"]


def test_the_document_of_the_query_is_what_a_formula_leaves_out():
    # d1: d3 (2), d4, d2 (1); d2: d3 before d1 by ID; q: d1.
    first = (2 + 1 / 2) / (2 + 1 / log2(3))
    found = rs.evaluate(JUDGED, FOUND, M, ignore_same=True)
    assert found.per_query(M).tolist() == pytest.approx([first, 1 / log2(3), 1.0], abs=1e-15)
    assert rs.evaluate(JUDGED, FOUND, M).per_query(M)[0] < first


def test_every_function_leaves_it_out():
    runs, others = {"a": FOUND, "b": JUDGED}, {"a": OTHERS, "b": JUDGED}
    same = {"ignore_same": True}
    assert rs.compare(JUDGED, runs, M, **same).means == rs.compare(JUDGED, others, M).means
    [one] = rs.gate(JUDGED, FOUND, JUDGED, {M: 0.1}, **same)
    [other] = rs.gate(JUDGED, OTHERS, JUDGED, {M: 0.1})
    assert one.value == other.value
    assert rs.losses(JUDGED, FOUND, M, **same).means == rs.losses(JUDGED, OTHERS, M).means
    assert rs.fuse(runs, **same).to_dict() == rs.fuse(others).to_dict()
    fused = rs.fuse(runs)
    assert rs.fuse([fused, fused], **same).to_dict()["d1"].keys() == OTHERS["d1"].keys()
    explained = rs.explain(JUDGED, FOUND, M, query_id="d1", **same)
    assert explained.value == rs.explain(JUDGED, OTHERS, M, query_id="d1").value
    held = rs.evaluate(JUDGED, FOUND, ["Personalization", M], **same)
    assert dict(held) == dict(rs.evaluate(JUDGED, OTHERS, ["Personalization", M]))


@pytest.mark.parametrize("command", ["eval", "conventions", "compare", "leaderboard", "diff"])
def test_commands_leave_it_out(command, tmp_path):
    write_qrels(tmp_path / "qrels.txt", JUDGED)
    for name, run in (("found", FOUND), ("xxxxx", OTHERS), ("judged", JUDGED)):
        write_run(tmp_path / name, run)
    other = [] if command in {"eval", "conventions"} else ["judged"]

    def call(name, *options):
        words = [command, "qrels.txt", name, *other, "-m", M, *options]
        return run_program(*words, folder=str(tmp_path)).stdout.decode().replace(name, "run__")

    assert call("found", "--ignore-same") == call("xxxxx") != call("found")


@pytest.mark.parametrize("form", ENTRANCES)
def test_it_is_left_out_of_a_table_with_grades(form, tmp_path):
    grades = [JUDGED[query].get(doc, 0) for query, doc, _ in PAIRS]
    frame = FRAME.assign(relevance=grades)
    table = enter(form, frame.to_dict("list"), tmp_path)
    expected = rs.evaluate(frame[frame.query_id != frame.doc_id], M)
    assert rs.evaluate(table, M, ignore_same=True).to_dict() == expected.to_dict()


def test_integers_are_compared_as_texts():
    run = {1: {1: 2.0, 2: 1.0}, 2: {12: 2.0, 1: 1.0}}
    found = rs.evaluate({1: {2: 1}, 2: {1: 1}}, run, "RR", ignore_same=True)
    assert found.per_query("RR").tolist() == [1.0, 0.5]
    table = {"query_id": [1, 1], "doc_id": ["1", "2"], "score": [2.0, 1.0]}
    assert rs.evaluate({1: {"2": 1}}, table, "RR", ignore_same=True)["RR"] == 1.0


def test_a_query_of_which_nothing_is_left_is_missing(tmp_path):
    run = {"d1": {"d1": 1.0}, "q": {"d1": 1.0}}
    table = pa.table([["d1", "q"], ["d1", "d1"], [1.0, 1.0]], names=NAMES)
    for form in (run, enter("parquet", table, tmp_path)):
        found = rs.evaluate(JUDGED, form, "RR", ignore_same=True)
        assert found.counts.missing == 2
        assert found["RR"] == 1 / 3


def test_a_mistake_below_a_row_that_is_left_out_keeps_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("query_id,doc_id,score\nd1,d1,3\nd1,d4,2\nd1,d4,1\n")
    for options in ({}, {"ignore_same": True}):
        call = partial(rs.evaluate, JUDGED, path, M, **options)
        assert refused(call, "duplicate_doc").line == 4


@pytest.mark.parametrize(
    ("inputs", "ignore_same", "code"),
    [
        ((JUDGED, FOUND), "yes", "bad_parameter"),
        ((FRAME.drop(columns="doc_id").assign(relevance=1),), True, "columns"),
        ((np.eye(2), np.eye(2)), True, "bad_parameter"),
        ((rs.Rankings.from_run(JUDGED, FOUND),), True, "bad_parameter"),
    ],
)
def test_what_has_no_documents_to_leave_out_is_refused(inputs, ignore_same, code):
    refused(lambda: rs.evaluate(*inputs, M, ignore_same=ignore_same), code)


# One user who viewed an item, then bought it.


def split(*test, **settings):
    """Split a log in which a user has these interactions with one item in the test set."""
    rows = [("ann", "y", 1, 0), ("bob", "x", 1, 0), *(("ann", "x", *row) for row in test)]
    names = ["user_id", "item_id", "rating", "time"]
    log = pd.DataFrame(rows, columns=names).to_dict("list")
    parts = rs.split(log, at=1, **settings)
    return parts.test["rating"], parts.dropped


HIGHER = "user and item with a higher grade in test"
LATER = "user and item later in test"
AGAIN = "user and item again in test"


@pytest.mark.parametrize(
    ("rows", "highest", "latest"),
    [
        ([(1, 1), (3, 2)], (3, {HIGHER: 1}), (3, {LATER: 1})),
        ([(3, 1), (1, 2)], (3, {HIGHER: 1}), (1, {LATER: 1})),
        ([(2, 1), (2, 2)], (2, {LATER: 1}), (2, {LATER: 1})),
        ([(1, 1), (3, 1)], (3, {HIGHER: 1}), (3, {HIGHER: 1})),
        ([(2, 1), (2, 1)], (2, {AGAIN: 1}), (2, {AGAIN: 1})),
        ([(-1, 1), (0, 2), (0, 2)], (0, {HIGHER: 1, AGAIN: 1}), (0, {LATER: 1, AGAIN: 1})),
        ([(5, 1)], (5, {}), (5, {})),
    ],
)
def test_the_highest_grade_or_the_latest_row_is_kept(rows, highest, latest):
    for repeats, (grade, dropped) in {"highest": highest, "latest": latest}.items():
        for order in (rows, rows[::-1]):
            assert split(*order, repeats=repeats) == ([grade], dropped)
    assert split(*rows) == ([highest[0]], highest[1])


def test_another_rule_for_repeats_is_refused():
    refused(lambda: split((1, 1), repeats="first"), "bad_policy")


# Integers that double precision rounds, and texts.

BIG = 2**53


def ask(kind, *numbers, role="score"):
    """The value and the problems of SQL for two documents with these numbers."""
    warehouse = duckdb.connect()
    beside = {"score": "relevance", "relevance": "score"}[role]
    rows = ", ".join(f"('q', 'd{at}', {number}, {1 - at})" for at, number in enumerate(numbers))
    warehouse.sql(  # the texts are those of this file
        f"CREATE TABLE rows AS SELECT query_id, doc_id, {role}::{kind} AS {role}, {beside} "  # noqa: S608
        f"FROM (VALUES {rows}) AS t(query_id, doc_id, {role}, {beside})"
    )
    for names in (["rows"], ["rows", "rows"]):
        made = write_sql(*names, "RR")
        problems = {row[0]: row[1] for row in warehouse.sql(made.checks).fetchall()}
        yield warehouse.sql(made.means).fetchall()[0][1], problems


@pytest.mark.parametrize(
    ("kind", "numbers", "value", "lost"),
    [
        ("BIGINT", (BIG + 1, BIG), None, 1),
        ("BIGINT", (-BIG - 1, -BIG - 3), None, 2),
        ("BIGINT", (BIG, BIG - 1), 1.0, 0),
        ("BIGINT", (BIG + 2, BIG), 1.0, 0),
        ("HUGEINT", (BIG + 1, 5), None, 1),
        ("DECIMAL(20, 2)", (f"{BIG}.25", BIG), None, 1),
        ("DECIMAL(20, 2)", ("0.10", "0.20"), 0.5, 0),
        ("DOUBLE", ("1e300", BIG + 1), 1.0, 0),
        ("FLOAT", ("0.3", "0.2"), 1.0, 0),
    ],
)
def test_scores_that_a_double_rounds_are_a_problem_of_sql(kind, numbers, value, lost):
    for found, problems in ask(kind, *numbers):
        assert (found, problems.get("inexact_number", 0)) == (value, lost)


def test_grades_that_a_double_rounds_are_a_problem_of_sql():
    for found, problems in ask("BIGINT", BIG + 1, 1, role="relevance"):
        assert (found, problems) == (None, {"inexact_number": 1})


@pytest.mark.parametrize("role", ["score", "relevance"])
@pytest.mark.parametrize("kind", ["VARCHAR", "BOOLEAN"])
def test_texts_and_truth_values_are_no_numbers_of_sql(kind, role):
    with pytest.raises(duckdb.BinderException, match="explicit type casts"):
        list(ask(kind, 1, 0, role=role))
