"""Databases that run the statements, and what they return."""

from __future__ import annotations

import math

import duckdb
import pandas as pd

QRELS = ("query_id", "doc_id", "relevance")
RUN = ("query_id", "doc_id", "score")


def run_duckdb(statement, **tables):
    """Run a statement on tables, and return its rows by column."""
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        connection.execute(statement)
        names = [column[0] for column in connection.description or []]
        return [dict(zip(names, row, strict=True)) for row in connection.fetchall()]


def frame(rows, columns):
    """A table with these columns, whose last one holds numbers."""
    table = pd.DataFrame([*rows], columns=[*columns])
    return table.astype({columns[0]: object, columns[1]: object, columns[-1]: "float64"})


def evaluate(statements, qrels, run):
    """The rows of the values of queries, of the means, and of the checks."""
    texts = (statements.per_query, statements.means, statements.checks)
    values, means, problems = (run_duckdb(text, qrels=qrels, run=run) for text in texts)
    return values, means, problems


def read(value):
    """A value, NaN where it is null."""
    return math.nan if value is None else float(value)
