"""Values from SQL are those of rankscope, to the last bit; means differ by rounding only."""

from __future__ import annotations

import math
from functools import cache

import pandas as pd
import pytest
import rankscope as rs
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope import Policy
from rankscope.errors import RankscopeError
from rankscope.measures.table import TABLE
from rankscope.sql import write_sql
from rankscope.sql.kernels import KERNELS, write_value
from rankscope.sql.plan import Plan

from tests.generated import examples
from tests.inputs.entry import flatten
from tests.invariance.lists import judged_queries
from tests.invariance.variants import VARIANTS, choose_pairs
from tests.parity.real import paths
from tests.warehouse.databases import QRELS, RUN, evaluate, frame, read, run_duckdb

POLICIES = (
    "empty=nan",
    "empty=nan,unjudged=remove,ties=doc_id_asc",
    "empty=skip,negative=gain,missing=skip",
    "empty=one,unretrieved=ignore,ties=best",
    "ties=worst",
)
MEASURES_AT_ONCE = 12


def is_in_sql(measure):
    """Whether SQL can compute a measure."""
    try:
        write_value(Plan(Policy(), 20), measure)
    except RankscopeError as error:
        assert error.code in {"not_in_sql", "bad_parameter"}, measure  # noqa: PT017
        return False
    return True


IN_SQL = list(filter(is_in_sql, choose_pairs(VARIANTS)))


@cache
def write(policy):
    """Other measures for each policy, in all kinds, and their statements."""
    at = POLICIES.index(policy)
    measures = IN_SQL[at :: len(IN_SQL) // MEASURES_AT_ONCE][:MEASURES_AT_ONCE]
    return measures, write_sql("qrels", "run", measures, policy=policy, depth=20)


def error_of_a_mean(values):
    """The largest rounding error of a mean: that of adding up in any order, and of dividing."""
    return (len(values) + 1) * 2.0**-53 * math.fsum(map(abs, values)) / max(len(values), 1)


batches = st.lists(
    st.tuples(judged_queries(), st.sampled_from(["both", "both", "both", "missing", "run only"])),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("policy", POLICIES)
@given(entries=batches)
@examples(4)
def test_values_and_means_are_those_of_evaluate(policy, entries):
    assume(any(side == "both" for _, side in entries))
    named = [(f"q{number}", *entry) for number, entry in enumerate(entries)]
    qrels = {query: lists.grades for query, lists, side in named if side != "run only"}
    run = {query: lists.scores for query, lists, side in named if side != "missing"}
    measures, statements = write(policy)
    tables = frame(flatten(qrels), QRELS), frame(flatten(run), RUN)
    rows, (means,), problems = evaluate(statements, *tables)
    expected = rs.evaluate(qrels, run, measures, policy=policy)
    assert problems == []
    found = {str(row["query_id"]): row for row in rows}
    assert found.keys() == qrels.keys()
    for measure in measures:
        column = statements.columns[measure.name]
        values = expected.per_query_list(measure)
        for query, value in zip(expected.query_ids, values, strict=True):
            got = read(found[query][column])
            assert got == value or (math.isnan(got) and math.isnan(value)), (measure, query)
        mean, got = expected[measure], read(means[column])
        bound = error_of_a_mean([value for value in values if not math.isnan(value)])
        assert abs(got - mean) <= bound or (math.isnan(mean) and math.isnan(got)), measure
        assert means[f"{column}_n"] == expected.denominators[measure.name]
    assert (means["queries"], means["problems"]) == (len(qrels), 0)


def test_every_kernel_that_sql_has_is_computed_in_a_database():
    grades = {"q": dict(zip("abcdefgh", (3, 0, 1, -1, 2, 1, 0, 4), strict=True)), "r": {"x": 0}}
    scores = {
        "q": {name: float(place) for place, name in enumerate("hzbdyafxecg")},
        "r": {"x": 1.0},
    }
    examples_of = {
        row.kernel: row.example.measure for row in TABLE.values() if row.mean != "geometric"
    }
    measures = [examples_of[kernel] for kernel in KERNELS]
    statements = write_sql("qrels", "run", measures, policy="empty=nan", depth=20)
    tables = frame(flatten(grades), QRELS), frame(flatten(scores), RUN)
    rows, _, problems = evaluate(statements, *tables)
    expected = rs.evaluate(grades, scores, measures, policy="empty=nan")
    assert problems == []
    for at, query in enumerate(expected.query_ids):
        (row,) = (row for row in rows if row["query_id"] == query)
        for name in measures:
            value = expected.per_query_list(name)[at]
            got = read(row[statements.columns[rs.parse(name).name]])
            assert got == value or (math.isnan(got) and math.isnan(value)), (name, query)


def test_fractional_grades_and_every_gain_and_discount_are_exact():
    grades = {"q": dict(zip("abcdefgh", (3, 0.1, 0.7, 1.3, 2, 5, 0, 4.9), strict=True))}
    scores = {"q": {name: float(place) for place, name in enumerate("hbdafecgz")}}
    measures = [
        "nDCG",
        "nDCG(dcg='exp-log2')",
        "nDCG(gain='binary')@5",
        "nDCG(gain={0: 0, 0.1: 1, 0.7: 2, 1.3: 2, 2: 3, 3: 4.5, 4.9: 9, 5: 10})@5",
        "nDCG(discount='log', base=2.718281828459045)",
        "nDCG(discount='jk', base=3)",
        "nDCG(discount='reciprocal', ideal='retrieved')",
        "nDCG(discount='linear', ideal='whole')@3",
        "nDCG(discount='zipf', s=0.3)",
        "nDCG(discount=[1, 0.7, 0.1])@3",
        "RBP(p=0.9)",
    ]
    statements = write_sql("qrels", "run", measures, policy="ties=doc_id", depth=20)
    tables = frame(flatten(grades), QRELS), frame(flatten(scores), RUN)
    (row,), _, problems = evaluate(statements, *tables)
    expected = rs.evaluate(grades, scores, measures)
    assert problems == []
    for measure in measures:
        assert row[statements.columns[rs.parse(measure).name]] == expected[measure]


def test_values_of_a_real_run_are_those_of_evaluate():
    files = paths("robust04")
    measures = ["nDCG@10", "nDCG", "AP", "RR", "P@10", "Bpref", "Rprec"]
    statements = write_sql("qrels", "run", measures)
    names = {0: "query_id", 2: "doc_id", 3: "relevance"}, {0: "query_id", 2: "doc_id", 4: "score"}
    qrels, run = (read_trec(str(path), columns) for path, columns in zip(files, names, strict=True))
    rows = run_duckdb(statements.per_query, qrels=qrels, run=run)
    expected = rs.evaluate(*map(str, files), measures)
    found = {str(row["query_id"]): row for row in rows}
    assert found.keys() == set(expected.query_ids)
    for measure in measures:
        column = statements.columns[measure]
        values = dict(zip(expected.query_ids, expected.per_query_list(measure), strict=True))
        assert {query: row[column] for query, row in found.items()} == values


def read_trec(path, columns):
    table = pd.read_csv(path, sep=r"\s+", header=None, usecols=[*columns], dtype=str)
    table = table.rename(columns=columns)
    return table.astype({columns[max(columns)]: "float64"})


def test_ranks_in_place_of_scores_give_the_same_values():
    qrels = pd.DataFrame([("1", "a", 1.0), ("1", "b", 0.0), ("2", "c", 2.0)], columns=[*QRELS])
    run = pd.DataFrame(
        [("1", "b", 0), ("1", "a", 5), ("2", "d", 1), ("2", "c", 1)],
        columns=["query_id", "doc_id", "place"],
    )
    statements = write_sql("qrels", "run", "nDCG@10", rank="place")
    rows, _, _ = evaluate(statements, qrels, run)
    renamed = run.rename(columns={"place": "rank"})
    expected = rs.evaluate(qrels, renamed, "nDCG@10").per_query_list("nDCG@10")
    assert [row["ndcg_at_10"] for row in rows] == expected


def test_integer_ids_are_compared_as_their_digits():
    qrels = frame([(1, 9, 1), (1, 10, 0), (1, 100, 0)], QRELS).astype({"doc_id": "int64"})
    run = frame([(1, 9, 0.5), (1, 10, 0.5), (1, 100, 0.5)], RUN).astype({"doc_id": "int64"})
    (row,), _, _ = evaluate(write_sql("qrels", "run", "RR"), qrels, run)
    assert row["rr"] == rs.evaluate(qrels, run, "RR")["RR"] == 1.0


def test_the_larger_of_two_grades_and_scores_counts_if_asked_for():
    qrels = frame([("1", "a", 1), ("1", "a", 2), ("1", "b", 1)], QRELS)
    run = frame([("1", "a", 1), ("1", "b", 2), ("1", "a", 3)], RUN)
    (row,), _, problems = evaluate(write_sql("qrels", "run", "DCG", duplicates="max"), qrels, run)
    assert problems == []
    assert row["dcg"] == rs.evaluate(qrels, run, "DCG", duplicates="max")["DCG"]


def test_means_by_attributes_are_those_of_slices():
    rows = [
        ("1", "a", "de", "tv", 1.0, 0.5),
        ("1", "b", "de", "tv", None, 0.7),
        ("2", "a", "fr", "tv", 2.0, 0.5),
        ("3", "a", "de", "tv", 1.0, 0.5),
        ("4", "a", None, "pc", 0.0, 0.5),
    ]
    names = ["query_id", "doc_id", "country", "device", "relevance", "score"]
    table = pd.DataFrame(rows, columns=names)
    statements = write_sql("shown", ["nDCG@10", "RR"], by=["country", "device"])
    found = run_duckdb(statements.means, shown=table)
    slices = rs.evaluate(table, ["nDCG@10", "RR"], by=["country", "device"]).slices
    expected = slices.to_dict()
    by_key = {(row["country"], row["device"]): row for row in found}
    assert found[0]["country"] == "de"  # the largest
    assert by_key.keys() == {("de", "tv"), ("fr", "tv"), (None, "pc")}
    for (country, device), row in by_key.items():
        slice_ = expected[country or "<missing>", device]
        assert row["queries"] == row["rr_n"] == slice_["queries"]
        assert (row["ndcg_at_10"], row["rr"]) == (slice_["nDCG@10"], slice_["RR"])


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("123"),
            st.sampled_from([None, 0.0, 1.0, 2.0]),
            st.sampled_from([0.1, 0.2, 0.3, 0.4]),
        ),
        min_size=1,
        max_size=9,
    )
)
@examples(15)
def test_a_joined_table_has_the_values_of_evaluate_table_or_a_problem(rows):
    table = pd.DataFrame(rows, columns=["query_id", "relevance", "score"])
    measures = ["nDCG@10", "AP", "RR", "Judged@10"]
    statements = joined()
    found = {str(row["query_id"]): row for row in run_duckdb(statements.per_query, shown=table)}
    problems = run_duckdb(statements.checks, shown=table)
    if table["relevance"].isna().all():
        assert [problem["problem"] for problem in problems] == ["empty_input"]
        assert {row["ndcg_at_10"] for row in found.values()} == {None}
        return
    groups = table.fillna(-1).groupby(["query_id", "score"])["relevance"].nunique()
    if (groups > 1).any():
        assert [problem["problem"] for problem in problems] == ["tied_documents"]
        assert problems[0]["found"] == int((groups > 1).sum())
        assert {row["ndcg_at_10"] for row in found.values()} == {None}
        return
    expected = rs.evaluate(table, measures)
    assert problems == []
    for measure in measures:
        values = [found[query][statements.columns[measure]] for query in expected.query_ids]
        assert values == pytest.approx(expected.per_query_list(measure), rel=1e-15)


@cache
def joined():
    """The statements for a table without documents."""
    return write_sql("shown", ["nDCG@10", "AP", "RR", "Judged@10"], doc=False)
