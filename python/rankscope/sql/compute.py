"""`write_sql`: read the arguments, and write the statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rankscope._evaluate.query_values import read_slicing
from rankscope._evaluate.settings import choose_ties, read_policy, split_question
from rankscope._names import check_choice
from rankscope._settings import Policy
from rankscope.errors import UsageError
from rankscope.measures.parse import Measures, read_measures
from rankscope.sql.inputs import (
    Dialect,
    JoinedTable,
    QrelsAndRun,
    TableName,
    check_name,
    read_columns,
    read_dialect,
    read_table,
)
from rankscope.sql.statements import SqlStatements, write_statements


def write_sql(
    judgments: TableName,
    run: TableName | Measures | None = None,
    measures: Measures | None = None,
    *,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    query: str | tuple[str, str] | None = None,
    doc: str | tuple[str, str] | Literal[False] | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    duplicates: Literal["error", "max"] = "error",
    dialect: Dialect = "duckdb",
    depth: int = 1000,
) -> SqlStatements:
    """Write SQL that evaluates tables of a warehouse.

    `write_sql(judgments, run, measures)` is for a table of judgments and one of retrieved
    documents, `write_sql(table, measures)` for a table whose rows hold a grade and a score or a
    rank. Values are those of `evaluate`. Where `evaluate` would raise an error, all values are
    null, and the statement `checks` says why.

    Args:
        judgments: The name of the table of judgments, or of the table that has both. Dots separate
            its parts (`"schema.table"`); a name that contains dots is a tuple of its parts.
        run: The name of the table of retrieved documents.
        measures: As in `evaluate`.
        by: One or more columns of the judgments, or of the table, with attributes of the query. The
            means then have a row for each of their values.
        policy: As in `evaluate`. SQL can't say `ties="input"` or `"average"`,
            `negative="minmax"`, a gain for unjudged or missing documents, or an aggregate other
            than the mean. In a table without documents, those of a query that have equal scores and
            different grades are a problem that the checks find.
        query: The column of queries (default: `query_id`; for Snowflake, all defaults are in
            capitals). Names are quoted, so write them as the warehouse stores them. Where the two
            tables have different names, a pair: that of the judgments and that of the run.
        doc: The column of documents, or such a pair (default: `doc_id`); `False` for a table that
            has none.
        relevance: The column of grades (default: `relevance`). Null and NaN mean unjudged.
        score: The column of scores (default: `score`). Larger scores rank first.
        rank: The column of ranks, in place of scores.
        duplicates: What to do with a document that occurs twice in a query: `"error"`, or keep the
            larger grade and the larger score (`"max"`), for judgments and a run.
        dialect: The dialect to write, one of: `"duckdb"`, `"postgres"`, `"bigquery"`,
            `"snowflake"`.
        depth: How many ranks have a discount where a measure has no cutoff, at most 10,000. If a
            document below has a gain, that is a problem that the checks find.

    Returns:
        The statements for the means, the values of each query, and the checks.

    Raises:
        MeasureError: A measure is unknown, or SQL can't compute it.
        PolicyError: The policy is invalid, or SQL can't follow it.
        UsageError: A name or another argument is invalid, or the extra `sql` isn't installed.

    Examples:
        >>> import duckdb
        >>> warehouse = duckdb.connect()
        >>> _ = warehouse.sql(
        ...     "CREATE TABLE judged AS FROM "
        ...     "(VALUES ('q1', 'd1', 3), ('q1', 'd3', 1)) AS t(query_id, doc_id, relevance)"
        ... )
        >>> _ = warehouse.sql(
        ...     "CREATE TABLE bm25 AS FROM "
        ...     "(VALUES ('q1', 'd2', 0.7), ('q1', 'd1', 0.6)) AS t(query_id, doc_id, score)"
        ... )
        >>> statements = write_sql("judged", "bm25", ["RR", "P@5"])
        >>> warehouse.sql(statements.means).fetchall()
        [(1, 0.5, 1, 0.2, 1, 0)]
        >>> warehouse.sql(statements.checks).fetchall()
        []
        >>> _ = warehouse.sql(
        ...     "CREATE TABLE shown AS FROM "
        ...     "(VALUES (1, 'a', 0.9, 0), (1, 'b', 0.1, 1), (2, 'a', 0.5, 1)) "
        ...     "AS t(query_id, doc_id, score, relevance)"
        ... )
        >>> warehouse.sql(write_sql("shown", "RR").per_query).fetchall()
        [('1', 0.5, 0), ('2', 1.0, 0)]
    """
    judged, retrieved, measures = split_question("write_sql", judgments, run, measures)
    dialect = read_dialect(dialect)
    check_choice("duplicates", duplicates, ("error", "max"))
    named = {"query": query, "doc": None if doc is False else doc, "relevance": relevance}
    columns = read_columns(named | {"score": score, "rank": rank}, dialect)
    attributes = read_slicing(by)
    for name in attributes:
        check_name(name, "an attribute", dialect)
    tables: QrelsAndRun | JoinedTable
    default = None
    if judged is not None:
        if doc is False:
            raise UsageError(
                "judgments and a run have documents, found doc=False",
                hint="remove it, or name one table whose rows hold both",
                code="bad_parameter",
            )
        tables = QrelsAndRun(
            dialect,
            columns,
            attributes,
            qrels=read_table(judged, "the judgments", dialect),
            run=read_table(retrieved, "the run", dialect),
            keep_larger=duplicates == "max",
        )
    else:
        if doc is False:
            del columns["doc"]
        if duplicates != "error" or any("." in role for role in columns):
            raise UsageError(
                "duplicates and pairs of columns are for judgments and a run, found one table",
                hint="remove them, or call write_sql(judgments, run, measures)",
                code="bad_parameter",
            )
        table = read_table(retrieved, "the table", dialect)
        tables = JoinedTable(dialect, columns, attributes, table)
        default = Policy(ties=choose_ties(has_documents=tables.has_documents))
    return write_statements(read_measures(measures)[0], tables, read_policy(policy, default), depth)
