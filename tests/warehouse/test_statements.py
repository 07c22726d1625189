"""Statements, what SQL can't say, and problems that the checks find."""

from __future__ import annotations

import math
import pickle
import re
from itertools import chain
from types import SimpleNamespace
from typing import get_args

import duckdb
import pandas as pd
import pytest
import rankscope as rs
import sqlglot
from hypothesis import assume, example, given
from hypothesis import strategies as st
from rankscope.errors import MeasureError, PolicyError, RankscopeError, UsageError
from rankscope.measures import TABLE
from rankscope.sql import Dialect, write_sql
from rankscope.sql.kernels import KERNELS
from rankscope.sql.statements import MEANINGS, _name_columns
from sqlglot import exp

from tests.generated import examples
from tests.interpreter import run_python
from tests.refusals import refuses
from tests.warehouse.databases import QRELS, RUN, evaluate, frame, run_duckdb

MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "Bpref", "P@5", "Judged@10"]
DIALECTS = get_args(Dialect)
NASTY = '"; DROP TABLE qrels; --'


def texts(statements):
    return [statements.means, statements.per_query, statements.checks]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_statement_is_one_select_that_its_dialect_reads_and_writes_again(dialect):
    statements = write_sql("qrels", "run", MEASURES, by="country", dialect=dialect, depth=5)
    for text in texts(statements):
        (tree,) = sqlglot.parse(text, read=dialect)
        assert isinstance(tree, exp.Select)
        written = tree.sql(dialect=dialect, pretty=True)
        assert sqlglot.parse_one(written, read=dialect) == tree


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_sums_have_no_order_where_a_dialect_has_none(dialect):
    for text in texts(write_sql("qrels", "run", MEASURES, dialect=dialect, depth=5)):
        tree = sqlglot.parse_one(text, read=dialect)
        assert not any(isinstance(one.this, exp.Order) for one in tree.find_all(exp.Sum))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", 'CAST(source."doc_id" AS TEXT) COLLATE "C" AS doc_id'),
        ("postgres", 'CAST(source."doc_id" AS TEXT) COLLATE "C" AS doc_id'),
        ("bigquery", "COLLATE(CAST(source.`doc_id` AS STRING), '') AS doc_id"),
        ("snowflake", "COLLATE(CAST(source.\"DOC_ID\" AS VARCHAR), 'utf8') AS doc_id"),
    ],
)
def test_ids_are_compared_by_bytes_in_every_dialect(dialect, text):
    assert text in write_sql("qrels", "run", "RR", dialect=dialect).means


def test_ids_that_differ_in_case_are_different_whatever_the_collation_of_the_columns():
    with duckdb.connect() as connection:
        connection.execute("SET default_collation = 'nocase'")
        connection.execute(
            "CREATE TABLE qrels AS FROM (VALUES ('q', 'x', 1), ('q', 'X', 0), ('Q', 'a', 1)) "
            "AS t(query_id, doc_id, relevance)"
        )
        connection.execute(
            "CREATE TABLE run AS FROM (VALUES ('q', 'X', 1), ('q', 'x', 1)) "
            "AS t(query_id, doc_id, score)"
        )
        rows = connection.execute(write_sql("qrels", "run", "RR").per_query).fetchall()
    qrels = {"q": {"x": 1, "X": 0}, "Q": {"a": 1}}
    expected = rs.evaluate(qrels, {"q": {"X": 1.0, "x": 1.0}}, "RR")
    found = {query: value for query, value, _ in rows}
    assert found == dict(zip(expected.query_ids, expected.per_query_list("RR"), strict=True))


@given(
    name=st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
    dialect=st.sampled_from(DIALECTS),
)
@example(name=NASTY, dialect="duckdb")
@example(name=NASTY, dialect="postgres")
@example(name=NASTY, dialect="snowflake")
@example(name="a`b", dialect="bigquery")
@example(name="a\\", dialect="bigquery")
@examples(10)
def test_a_name_is_one_quoted_identifier_or_refused(name, dialect):
    # In BigQuery, a dot in a quoted name separates a dataset from its table.
    assume(dialect != "bigquery" or "." not in name)
    try:
        statements = write_sql(
            (name,), ("schema", name), "RR", query=name, by=f"by {name}", dialect=dialect
        )
    except UsageError as error:
        assert error.code == "bad_parameter"  # noqa: PT017
        assert dialect == "bigquery" or not name.isprintable()
        return
    (tree,) = sqlglot.parse(statements.means, read=dialect)
    tables = {table.name: table for table in tree.find_all(exp.Table)}
    assert tables[name].this.quoted
    assert {table.db for table in tree.find_all(exp.Table) if table.name == name} == {"", "schema"}
    assert f"by {name}" in {column.name for column in tree.find_all(exp.Column)}
    assert tree.selects[0].alias == f"by {name}"


def test_a_name_can_hold_quotes_and_semicolons_in_duckdb():
    quoted = '"' + NASTY.replace('"', '""') + '"'
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE {quoted} AS SELECT 1 AS {quoted}, 'a' AS doc_id, 1 AS relevance"
        )
        connection.execute("CREATE TABLE run AS SELECT 1 AS query_id, 'a' AS doc_id, 1 AS score")
        connection.execute(f"ALTER TABLE run RENAME query_id TO {quoted}")
        statements = write_sql((NASTY,), "run", "RR", query=NASTY)
        assert connection.execute(statements.means).fetchall() == [(1, 1.0, 1, 0)]


def test_the_two_tables_can_have_different_names_for_ids():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE qrels AS SELECT 1 session, 'a' doc_id, 1 relevance")
        connection.execute("CREATE TABLE run AS SELECT 1 sid, 'a' item, 1 score")
        statements = write_sql(
            "qrels", "run", "RR", query=("session", "sid"), doc=("doc_id", "item")
        )
        assert connection.execute(statements.means).fetchall() == [(1, 1.0, 1, 0)]


def test_a_missing_column_is_the_one_that_the_database_names():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE qrels AS SELECT 1 session, 'a' doc_id, 1 relevance")
        connection.execute("CREATE TABLE run AS SELECT 1 query_id, 'a' doc_id, 1 score")
        with pytest.raises(duckdb.BinderException, match='column named "query_id"'):
            connection.execute(write_sql("qrels", "run", "RR").means)


@pytest.mark.parametrize("name", ['schema."My Table"', "(SELECT 1)", "`a.b`", "[a].[b]"])
def test_a_name_is_no_sql(name):
    with refuses(UsageError, "bad_parameter") as caught:
        write_sql(name, "run", "RR")
    assert "view" in caught.value.hint


def test_default_names_are_capitals_in_snowflake():
    text = write_sql("QRELS", "RUN", "RR", dialect="snowflake").means
    tree = sqlglot.parse_one(text, read="snowflake")
    quoted = {name.name for name in tree.find_all(exp.Identifier) if name.quoted}
    assert quoted == {"QRELS", "RUN", "QUERY_ID", "DOC_ID", "RELEVANCE", "SCORE"}


def test_parts_of_a_name_are_separated_by_dots():
    text = write_sql("a.b.c", ("d.e",), "RR", dialect="bigquery").means
    assert "FROM `a`.`b`.`c`" in text
    assert "FROM `d.e`" in text


def test_long_names_of_measures_are_cut_and_stay_different():
    weights = ",".join(["0.123456789"] * 9)
    measures = [f"nDCG(discount=[{weights},{last}])@10" for last in (0.1, 0.2)]
    columns = write_sql("qrels", "run", measures).columns.values()
    assert len({*columns}) == 2
    assert max(map(len, columns)) + len("_n") < 63


def test_the_same_call_gives_the_same_text_and_it_pickles():
    statements, repeated = (write_sql("qrels", "run", MEASURES) for _ in range(2))
    assert repeated == statements == pickle.loads(pickle.dumps(statements))  # noqa: S301
    assert str(statements) == statements.means


@pytest.mark.parametrize(
    "row", [row for row in TABLE.values() if row.kernel not in KERNELS], ids=lambda row: row.kernel
)
def test_other_measures_are_refused_with_a_reason(row):
    with refuses(MeasureError, "not_in_sql", match=r"SQL can't compute .*: \w+"):
        write_sql("qrels", "run", row.example.measure)


@pytest.mark.parametrize(
    "measure",
    [rs.nDCG(gain=lambda grade: grade) @ 5, rs.nDCG(discount=lambda rank: 1 / rank) @ 5, rs.GMAP],
    ids=str,
)
def test_functions_and_geometric_means_are_refused(measure):
    with refuses(MeasureError, "not_in_sql"):
        write_sql("qrels", "run", measure)


@pytest.mark.parametrize(
    "policy",
    [
        "ties=average",
        "ties=input",
        "negative=minmax",
        "unjudged=0.5",
        "missing_gain=1",
        "aggregate=median",
    ],
)
def test_a_policy_that_sql_cannot_follow_is_refused_by_its_field(policy):
    with refuses(PolicyError, "not_in_sql") as raised:
        write_sql("qrels", "run", "RR", policy=policy)
    assert policy.partition("=")[0] in raised.value.message


def test_order_by_ids_needs_documents():
    with refuses(PolicyError, "not_in_sql", match="there are none"):
        write_sql("shown", "RR", doc=False, policy="ties=doc_id")


@pytest.mark.parametrize(
    "arguments",
    [
        {"dialect": "mysql"},
        {"dialect": "duckdbb"},
        {"judgments": ""},
        {"judgments": "a..b"},
        {"judgments": 5},
        {"run": "a\nb"},
        {"doc": False},
        {"score": "a", "rank": "b"},
        {"query": ("a", "b", "c")},
        {"relevance": ("a", "b")},
        {"query": 5},
        {"by": "rr"},
        {"by": ["a", "A"]},
        {"by": "queries"},
        {"depth": "10"},
    ],
    ids=str,
)
def test_an_argument_that_is_none_is_a_usage_error(arguments):
    with refuses(UsageError, "bad_parameter") as raised:
        write_sql(**{"judgments": "qrels", "run": "run", "measures": "RR"} | arguments)
    assert raised.value.hint


def test_without_sqlglot_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "import rankscope as rs\n"
        "from rankscope.sql import write_sql\n"
        "try: write_sql('qrels', 'run', 'RR')\n"
        "except rs.UsageError as error: print(error.code, error.hint)"
    )
    output = run_python(program)
    assert output.startswith("missing_extra ")
    assert "[sql]" in output


GOOD_QRELS = [("1", "a", 1.0), ("1", "b", 0.0), ("2", "a", 2.0)]
GOOD_RUN = [("1", "b", 0.5), ("1", "a", 0.4), ("2", "a", 0.3)]
EXP2 = "nDCG(dcg='exp-log2')@10"


def case(code, judged=(), retrieved=(), policy="", measure="RR"):
    """The code of a problem, and rows that have it beside good ones."""
    return code, judged, retrieved, policy, measure


LARGE = [("1", "y", 1.5e308), ("1", "z", 1.5e308)]
CASES = {
    "a document judged differently": case("duplicate_conflict", [("1", "a", 2.0)]),
    "a document retrieved twice": case("duplicate_doc", [], [("2", "a", 0.9)]),
    "twice without judgments": case("duplicate_doc", [], [("9", "a", 1.0), ("9", "a", 2.0)]),
    "no grade": case("rel_not_number", [("1", "z", None)]),
    "an infinite grade": case("rel_out_of_range", [("1", "z", math.inf)]),
    "no score": case("score_nan", [], [("1", "z", None)]),
    "an infinite score": case("score_overflow", [], [("1", "z", -math.inf)]),
    "no document": case("missing_id", [("1", None, 1.0)]),
    "an empty query": case("missing_id", [], [("", "z", 1.0)]),
    "a negative grade": case("negative_gain", [("1", "z", -1.0)], policy="negative=error"),
    "not in the run": case("missing_query", [("3", "a", 1)], policy="missing=error"),
    "nothing relevant": case("empty_query", [("3", "a", 0)], [("3", "a", 1)], "empty=error"),
    "gains that overflow": case("gain_overflow", LARGE, [*LARGE], measure="CG"),
    "an ideal that overflows": case("gain_overflow", LARGE, measure="nDCG"),
    "a grade without a gain": case("gain_missing", [("1", "z", 7)], measure="DCG(gain=[0,1,2])@5"),
}


@pytest.mark.parametrize(
    ("code", "judged", "retrieved", "policy", "measure"), CASES.values(), ids=CASES
)
def test_what_evaluate_refuses_is_a_problem_and_no_value(code, judged, retrieved, policy, measure):
    qrels, run = frame([*GOOD_QRELS, *judged], QRELS), frame([*GOOD_RUN, *retrieved], RUN)
    with refuses(RankscopeError, code):
        rs.evaluate(qrels, run, measure, policy=policy)
    statements = write_sql("qrels", "run", [measure, "Judged@10"], policy=policy)
    values, (means,), problems = evaluate(statements, qrels, run)
    assert [problem["problem"] for problem in problems] == [code]
    assert problems[0]["meaning"] == MEANINGS[code]
    columns = statements.columns.values()
    assert {row[column] for row in values for column in columns} == {None}
    assert {means[column] for column in columns} == {None}
    assert {means[f"{column}_n"] for column in columns} == {0}
    assert means["problems"] == problems[0]["found"] > 0


def test_a_problem_names_a_query_and_a_document():
    run = frame([*GOOD_RUN, ("2", "a", 0.9)], RUN)
    _, _, problems = evaluate(write_sql("qrels", "run", "RR"), frame(GOOD_QRELS, QRELS), run)
    assert problems == [
        {
            "problem": "duplicate_doc",
            "found": 1,
            "query_id": "2",
            "doc_id": "a",
            "meaning": MEANINGS["duplicate_doc"],
        }
    ]


@pytest.mark.parametrize(
    ("qrels", "run", "codes"),
    [
        ([], GOOD_RUN, ["empty_input", "no_common_queries"]),
        (GOOD_QRELS, [], ["empty_input", "no_common_queries"]),
        (GOOD_QRELS, [("7", "a", 1.0)], ["no_common_queries"]),
    ],
)
def test_tables_with_nothing_in_common_are_a_problem(qrels, run, codes):
    tables = frame(qrels, QRELS), frame(run, RUN)
    with pytest.raises(RankscopeError) as raised:
        rs.evaluate(*tables, "RR")
    assert raised.value.code in codes
    _, (means,), problems = evaluate(write_sql("qrels", "run", "RR"), *tables)
    assert [problem["problem"] for problem in problems] == codes
    assert means["rr"] is None
    assert means["problems"]  # more than 0


def test_a_list_deeper_than_the_discounts_is_a_problem():
    qrels = frame([("1", name, 1) for name in "abc"], QRELS)
    run = frame([("1", name, -at) for at, name in enumerate("xyabc")], RUN)
    for depth, codes in ((5, []), (4, ["too_deep"]), (2, ["too_deep"])):
        _, (means,), problems = evaluate(write_sql("qrels", "run", "nDCG", depth=depth), qrels, run)
        assert [problem["problem"] for problem in problems] == codes
        assert (means["ndcg"] is None) == bool(codes)
    _, (means,), _ = evaluate(write_sql("qrels", "run", "nDCG@3", depth=1), qrels, run)
    assert means["ndcg_at_3"] == rs.evaluate(qrels, run, "nDCG@3")["nDCG@3"]


def test_a_query_with_two_values_of_an_attribute_is_a_problem():
    rows = [("1", "a", "de", 1.0, 0.5), ("1", "b", None, 1.0, 0.4)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "country", "relevance", "score"])
    with refuses(RankscopeError, "attribute_conflict"):
        rs.evaluate(table, "RR", by="country")
    problems = run_duckdb(write_sql("shown", "RR", by="country").checks, shown=table)
    assert [problem["problem"] for problem in problems] == ["attribute_conflict"]


def test_every_problem_that_a_statement_can_find_has_a_meaning():
    measures = ["nDCG", "DCG(gain=[0,1,2])@5"]
    checks = write_sql(
        "qrels", "run", measures, by="country", policy="negative=error,empty=error,missing=error"
    )
    ties = write_sql("shown", "RR", doc=False, by="country")
    texts = chain(*(re.findall(r"'(\w+)' AS problem", sql.checks) for sql in (checks, ties)))
    assert set(texts) == MEANINGS.keys()


@pytest.mark.parametrize("length", [1, 299, 300, 0, 301])
def test_a_name_has_300_characters_at_most(length):
    if 1 <= length <= 300:
        write_sql(("x" * length,), "run", "RR")
    else:
        with refuses(UsageError, "bad_parameter", match="expected the judgments as a name"):
            write_sql(("x" * length,), "run", "RR")


@pytest.mark.parametrize("depth", [0, 1, 9_999, 10_000, 10_001])
def test_lists_have_10_000_ranks_at_most(depth):
    # No attribute has this name, which is refused after a depth that is none.
    with pytest.raises(UsageError) as raised:
        write_sql("qrels", "run", "RR", depth=depth, by="queries")
    assert ("from 1 to 10000" in raised.value.message) == (not 1 <= depth <= 10_000)


@pytest.mark.parametrize(("k", "ranks"), [(9_999, 9_999), (10_000, 10_000), (10_001, 7)])
def test_a_cutoff_beyond_10_000_is_none(k, ranks):
    text = write_sql("qrels", "run", f"DCG@{k}", depth=7).per_query
    assert f"({ranks}, " in text
    assert f"({ranks + 1}, " not in text


def test_a_column_has_56_characters_at_most():
    for count in (55, 56, 57):
        measure = SimpleNamespace(plain_name="x" * count, name="X")
        assert _name_columns([measure]) == {"X": "x" * min(count, 56)}
