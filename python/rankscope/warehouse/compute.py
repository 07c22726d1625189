"""Write measures as SQL."""

from __future__ import annotations

from rankscope.engine.requests import read_measures, read_policy
from rankscope.evaluation.evaluate_table import read_slicing
from rankscope.settings.policy import CHOICES, Policy, check_choice
from rankscope.warehouse import inputs
from rankscope.warehouse.dialects import read_dialect
from rankscope.warehouse.inputs import JoinedTable, QrelsAndRun
from rankscope.warehouse.statements import write_statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from rankscope.engine.requests import Measures
    from rankscope.settings.policy import Ties
    from rankscope.warehouse.dialects import Dialect
    from rankscope.warehouse.result import SqlStatements

DEPTH = 1000


def sql(
    measures: Measures,
    *,
    qrels: str | tuple[str, ...] = "qrels",
    run: str | tuple[str, ...] = "run",
    dialect: Dialect = "duckdb",
    columns: Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    duplicates: Literal["error", "max"] = "error",
    depth: int = DEPTH,
) -> SqlStatements:
    """Write SQL that evaluates a table of retrieved documents against a table of judgments.

    Values are those of `evaluate`. Where `evaluate` would raise an error, all values are null, and
    the statement `checks` says why.

    Args:
        measures: As in `evaluate`.
        qrels: The name of the table of judgments. Dots separate its parts (`"schema.table"`); a
            name that contains dots is a tuple of its parts.
        run: The name of the table of retrieved documents.
        dialect: The dialect to write, one of: `"duckdb"`, `"postgres"`, `"bigquery"`,
            `"snowflake"`.
        columns: The names of columns by role (`query`, `doc`, `relevance`, and `score` or `rank`).
            If the tables have different names for IDs, the roles are `qrels.query`, `run.query`,
            `qrels.doc` and `run.doc`. By default, they are `query_id`, `doc_id`, `relevance` and
            `score`; for Snowflake, the same in capitals. Names are quoted, so write them as the
            warehouse stores them.
        by: One or more columns of the judgments with attributes of the query. The means then have
            a row for each of their values.
        policy: As in `evaluate`. SQL can't say `ties="input"` or `"average"`,
            `negative="minmax"`, a gain for unjudged or missing documents, or an aggregate other
            than the mean.
        duplicates: What to do with a document that occurs twice in a query: `"error"`, or keep the
            larger grade and the larger score (`"max"`).
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
        >>> statements = sql(["RR", "P@5"], qrels="judged", run="bm25")
        >>> warehouse.sql(statements.means).fetchall()
        [(1, 0.5, 1, 0.2, 1, 0)]
        >>> warehouse.sql(statements.checks).fetchall()
        []
    """
    kind = read_dialect(dialect)
    check_choice("duplicates", duplicates, ("error", "max"))
    given = QrelsAndRun(
        inputs.read_table(qrels, "qrels", kind),
        inputs.read_table(run, "run", kind),
        inputs.read_columns(columns, kind),
        inputs.read_attributes(read_slicing(by), kind),
        keep_larger=duplicates == "max",
    )
    return write_statements(
        read_measures(measures)[0],
        given,
        read_policy(policy),
        dialect=kind,
        depth=depth,
    )


def sql_table(
    table: str | tuple[str, ...],
    measures: Measures,
    *,
    query: str | None = None,
    doc: str | Literal[False] | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    dialect: Dialect = "duckdb",
    by: str | Sequence[str] | None = None,
    ties: Ties | None = None,
    policy: Policy | str | None = None,
    depth: int = DEPTH,
) -> SqlStatements:
    """Write SQL that evaluates a table whose rows hold a score, or a rank, and a grade.

    Values are those of `evaluate_table`. Where it would raise an error, all values are null, and
    the statement `checks` says why.

    Args:
        table: The name of the table, as in `sql`.
        measures: As in `evaluate`.
        query: The column of queries (default: `query_id`).
        doc: The column of documents (default: `doc_id`); `False` if there is none.
        relevance: The column of grades (default: `relevance`). Null and NaN mean unjudged.
        score: The column of scores (default: `score`). Larger scores rank first.
        rank: The column of ranks, in place of scores.
        dialect: As in `sql`.
        by: One or more columns with attributes of the query. The means then have a row for each of
            their values.
        ties: How equal scores are ordered (default: what the policy says, else `"average"`). SQL
            can't average over the orders of tied documents. With `"average"`, documents of a query
            that have equal scores and different grades are a problem that the checks find.
        policy: As in `sql`.
        depth: As in `sql`.

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
        ...     "CREATE TABLE shown AS FROM "
        ...     "(VALUES (1, 'a', 0.9, 0), (1, 'b', 0.1, 1), (2, 'a', 0.5, 1)) "
        ...     "AS t(query_id, doc_id, score, relevance)"
        ... )
        >>> warehouse.sql(sql_table("shown", "RR").per_query).fetchall()
        [('1', 0.5, 0), ('2', 1.0, 0)]
    """
    kind = read_dialect(dialect)
    if ties is not None:
        check_choice("ties", ties, CHOICES["ties"])
    named = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    columns = inputs.read_columns(
        {role: name for role, name in named.items() if name is not None and name is not False}, kind
    )
    if doc is False:
        del columns["doc"]
    given = JoinedTable(
        inputs.read_table(table, "table", kind),
        columns,
        inputs.read_attributes(read_slicing(by), kind),
    )
    return write_statements(
        read_measures(measures)[0],
        given,
        read_policy(policy, Policy(ties=ties or "average")),
        dialect=kind,
        depth=depth,
    )
