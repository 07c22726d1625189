"""Statements: names, dialects, and what SQL can't say."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import duckdb
import pytest
import rankscope as rs
import sqlglot
from hypothesis import assume, example, given
from hypothesis import strategies as st
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.measures import TABLE
from rankscope.warehouse.dialects import TEXTS
from rankscope.warehouse.kernels import KERNELS, REFUSED, UNWRITTEN
from sqlglot import exp

from tests.generated import examples
from tests.interpreter import run_python
from tests.refusals import refuses

if TYPE_CHECKING:
    from rankscope.warehouse.dialects import Dialect

MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "Bpref", "P@5", "Judged@10"]
DIALECTS = [*TEXTS]
NASTY = '"; DROP TABLE qrels; --'


def texts(statements: rs.SqlStatements) -> list[str]:
    """The three statements."""
    return [statements.means, statements.per_query, statements.checks]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_statement_is_one_select_that_its_dialect_reads_and_writes_again(
    dialect: Dialect,
) -> None:
    statements = rs.sql("qrels", "run", MEASURES, by="country", dialect=dialect, depth=5)
    for text in texts(statements):
        (tree,) = sqlglot.parse(text, read=dialect)
        assert isinstance(tree, exp.Select)
        written = tree.sql(dialect=dialect, pretty=True)
        assert sqlglot.parse_one(written, read=dialect) == tree


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_sums_have_no_order_where_a_dialect_has_none(dialect: Dialect) -> None:
    for text in texts(rs.sql("qrels", "run", MEASURES, dialect=dialect, depth=5)):  # type: ignore[arg-type]  # one of them
        tree = sqlglot.parse_one(text, read=dialect)
        assert not any(isinstance(one.this, exp.Order) for one in tree.find_all(exp.Sum))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", 'CAST(given."doc_id" AS TEXT) COLLATE "C" AS doc_id'),
        ("postgres", 'CAST(given."doc_id" AS TEXT) COLLATE "C" AS doc_id'),
        ("bigquery", "COLLATE(CAST(given.`doc_id` AS STRING), '') AS doc_id"),
        ("snowflake", "COLLATE(CAST(given.\"DOC_ID\" AS VARCHAR), 'utf8') AS doc_id"),
    ],
)
def test_ids_are_compared_by_bytes_in_every_dialect(dialect: Dialect, text: str) -> None:
    assert text in rs.sql("qrels", "run", "RR", dialect=dialect).means


def test_ids_that_differ_in_case_are_different_whatever_the_collation_of_the_columns() -> None:
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
        rows = connection.execute(rs.sql("qrels", "run", "RR").per_query).fetchall()
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
def test_a_name_is_one_quoted_identifier_or_refused(name: str, dialect: Dialect) -> None:
    # In BigQuery, a dot in a quoted name separates a dataset from its table.
    assume(dialect != "bigquery" or "." not in name)
    try:
        statements = rs.sql(
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


def test_a_name_can_hold_quotes_and_semicolons_in_duckdb() -> None:
    quoted = '"' + NASTY.replace('"', '""') + '"'
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE {quoted} AS SELECT 1 AS {quoted}, 'a' AS doc_id, 1 AS relevance"
        )
        connection.execute("CREATE TABLE run AS SELECT 1 AS query_id, 'a' AS doc_id, 1 AS score")
        connection.execute(f"ALTER TABLE run RENAME query_id TO {quoted}")
        statements = rs.sql((NASTY,), "run", "RR", query=NASTY)
        assert connection.execute(statements.means).fetchall() == [(1, 1.0, 1, 0)]


def test_the_two_tables_can_have_different_names_for_ids() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE qrels AS SELECT 1 session, 'a' doc_id, 1 relevance")
        connection.execute("CREATE TABLE run AS SELECT 1 sid, 'a' item, 1 score")
        statements = rs.sql("qrels", "run", "RR", query=("session", "sid"), doc=("doc_id", "item"))
        assert connection.execute(statements.means).fetchall() == [(1, 1.0, 1, 0)]


def test_a_missing_column_is_the_one_that_the_database_names() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE qrels AS SELECT 1 session, 'a' doc_id, 1 relevance")
        connection.execute("CREATE TABLE run AS SELECT 1 query_id, 'a' doc_id, 1 score")
        with pytest.raises(duckdb.BinderException, match='column named "query_id"'):
            connection.execute(rs.sql("qrels", "run", "RR").means)


@pytest.mark.parametrize("name", ['schema."My Table"', "(SELECT 1)", "`a.b`", "[a].[b]"])
def test_a_name_is_no_sql(name: str) -> None:
    with refuses(UsageError, "bad_parameter") as caught:
        rs.sql(name, "run", "RR")
    assert "view" in caught.value.hint


def test_default_names_are_capitals_in_snowflake() -> None:
    text = rs.sql("QRELS", "RUN", "RR", dialect="snowflake").means
    tree = sqlglot.parse_one(text, read="snowflake")
    quoted = {one.name for one in tree.find_all(exp.Identifier) if one.quoted}
    assert quoted == {"QRELS", "RUN", "QUERY_ID", "DOC_ID", "RELEVANCE", "SCORE"}


def test_parts_of_a_name_are_separated_by_dots() -> None:
    text = rs.sql("a.b.c", ("d.e",), "RR", dialect="bigquery").means
    assert "FROM `a`.`b`.`c`" in text
    assert "FROM `d.e`" in text


def test_long_names_of_measures_are_cut_and_stay_different() -> None:
    weights = ",".join(["0.123456789"] * 9)
    measures = [f"nDCG(discount=[{weights},{last}])@10" for last in (0.1, 0.2)]
    columns = rs.sql("qrels", "run", measures).columns.values()
    assert len({*columns}) == 2
    assert max(map(len, columns)) + len("_n") < 63


def test_the_same_call_gives_the_same_text_and_it_pickles() -> None:
    statements = rs.sql("qrels", "run", MEASURES)
    assert rs.sql("qrels", "run", MEASURES) == statements == pickle.loads(pickle.dumps(statements))  # noqa: S301
    assert str(statements) == statements.means


def test_every_measure_is_computed_or_refused_with_a_reason() -> None:
    rows = {row.kernel: row for row in TABLE.values()}
    assert not KERNELS.keys() & REFUSED.keys()
    assert KERNELS.keys() | REFUSED.keys() <= rows.keys()
    for kernel in rows.keys() - KERNELS.keys():
        with refuses(MeasureError, "not_in_sql", match="SQL can't compute") as raised:
            rs.sql("qrels", "run", rows[kernel].example.measure)
        assert REFUSED.get(kernel, UNWRITTEN) in raised.value.message


@pytest.mark.parametrize(
    "measure",
    [rs.nDCG(gain=lambda grade: grade) @ 5, rs.nDCG(discount=lambda rank: 1 / rank) @ 5, rs.GMAP],
    ids=str,
)
def test_functions_and_geometric_means_are_refused(measure: rs.Measure) -> None:
    with refuses(MeasureError, "not_in_sql"):
        rs.sql("qrels", "run", measure)


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
def test_a_policy_that_sql_cannot_follow_is_refused_by_its_field(policy: str) -> None:
    with refuses(PolicyError, "not_in_sql") as raised:
        rs.sql("qrels", "run", "RR", policy=policy)
    assert policy.partition("=")[0] in raised.value.message


def test_order_by_ids_needs_documents() -> None:
    with refuses(PolicyError, "not_in_sql", match="there are none"):
        rs.sql("shown", "RR", doc=False, policy="ties=doc_id")


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
        {"depth": 0},
        {"depth": 10_001},
        {"depth": "10"},
    ],
    ids=str,
)
def test_an_argument_that_is_none_is_a_usage_error(arguments: dict[str, object]) -> None:
    with refuses(UsageError, "bad_parameter") as raised:
        rs.sql(**{"judgments": "qrels", "run": "run", "measures": "RR"} | arguments)  # type: ignore[arg-type]  # they are wrong
    assert raised.value.hint


def test_without_sqlglot_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "import rankscope as rs\n"
        "try: rs.sql('qrels', 'run', 'RR')\n"
        "except rs.UsageError as error: print(error.code, error.hint)"
    )
    said = run_python(program)
    assert said.startswith("missing_extra ")
    assert "[sql]" in said
