"""The statements for PostgreSQL give the values of rankscope in a server."""

from __future__ import annotations

import math

import psycopg
import pytest
import rankscope as rs
from rankscope.sql import write_sql

from tests.warehouse.test_values import IN_SQL, error_of_a_mean

QRELS = {
    "q1": {"a": 3.0, "B": 1.5, "b": 0.0, "é": 2.0, "zz": -1.0, "unseen": 1.0},
    "q2": {"10": 0.5, "9": 4.0, "x": 1.0},
    "q3": {"a": 0.0},
    "missing": {"a": 1.0},
}
RUN = {
    "q1": {"a": 0.5, "B": 0.5, "b": 0.5, "é": 0.9, "zz": 0.7, "Z": -0.0, "other": 0.0},
    "q2": {"10": 1e300, "9": 1e300, "x": 5e-324, "y": 0.0},
    "q3": {"a": 1.0, "b": 2.0},
    "not judged": {"a": 1.0},
}


@pytest.fixture(scope="module")
def server(cluster):
    """A server whose columns are sorted as people in Germany sort."""
    with psycopg.connect(host=str(cluster.folder), user="postgres") as server:
        for table, number, lists in (("qrels", "relevance", QRELS), ("run", "score", RUN)):
            rows = [(q, doc, value) for q, docs in lists.items() for doc, value in docs.items()]
            server.execute(
                f'CREATE TABLE {table} (query_id text, doc_id text COLLATE "de-x-icu", '
                f"{number} double precision)"
            )
            insert = f"INSERT INTO {table} VALUES (%s, %s, %s)"  # noqa: S608 - one of two names
            server.cursor().executemany(insert, rows)
        yield server


def query(server, statement):
    cursor = server.execute(statement.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def read(value):
    """A value, NaN where it is null."""
    return math.nan if value is None else float(value)


@pytest.mark.parametrize(
    "policy",
    ["empty=nan", "empty=skip,unjudged=remove,ties=doc_id_asc", "negative=gain,ties=worst"],
)
def test_values_are_equal_and_means_as_close_as_a_sum_can_be(server, policy):
    for measures in (IN_SQL[:60], IN_SQL[60::9]):
        settings = {"dialect": "postgres", "policy": policy, "depth": 20}
        statements = write_sql("qrels", "run", measures, **settings)
        assert query(server, statements.checks) == []
        expected = rs.evaluate(QRELS, RUN, measures, policy=policy)
        rows = {str(row["query_id"]): row for row in query(server, statements.per_query)}
        (means,) = query(server, statements.means)
        for measure in measures:
            column = statements.columns[measure.name]
            values = expected.per_query_list(measure)
            found = [read(rows[query_id][column]) for query_id in expected.query_ids]
            assert list(map(repr, found)) == list(map(repr, values)), measure
            bound = error_of_a_mean([value for value in values if not math.isnan(value)])
            mean, got = expected[measure], read(means[column])
            assert abs(got - mean) <= bound or (math.isnan(mean) and math.isnan(got)), measure


def check_problems(server, statements, code):
    """There is this problem, and no value."""
    assert [row["problem"] for row in query(server, statements.checks)] == [code]
    (means,) = query(server, statements.means)
    assert means["rr"] is None
    assert means["rr_n"] == 0


def test_problems_are_found_and_hide_the_values(server):
    with server.transaction(force_rollback=True):
        server.execute("INSERT INTO run VALUES ('q1', 'nan', 'NaN')")
        check_problems(server, write_sql("qrels", "run", "RR", dialect="postgres"), "score_nan")
    with server.transaction(force_rollback=True):
        server.execute("INSERT INTO qrels VALUES ('q1', 'a', 1)")
        check_problems(
            server, write_sql("qrels", "run", "RR", dialect="postgres"), "duplicate_conflict"
        )
    check_problems(
        server,
        write_sql("qrels", "run", "RR", dialect="postgres", policy="empty=error"),
        "empty_query",
    )
