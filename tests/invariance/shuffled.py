"""Judgments and runs in any order of rows and in any form, and results as text to compare."""

from __future__ import annotations

from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa

QUERIES = range(1, 46)
"""As text, 10 comes before 9."""
USERS = {str(query): f"user {query % 32}" for query in QUERIES}
COUNTRIES = {str(query): "abc"[query % 3] for query in QUERIES}


def make_rows(seed, noise):
    """Return the scores of a run: the grade of each document with noise."""
    random = Random(seed)
    return [(query, doc, grade + random.gauss(0, noise)) for query, doc, grade in QRELS]


_RANDOM = Random(1)
QRELS = [(query, f"d{doc}", _RANDOM.choice([0, 0, 1, 2])) for query in QUERIES for doc in range(12)]
OLD, NEW = make_rows(2, 1.3), make_rows(3, 1.1)


def shuffle(rows, seed):
    """Return the rows in another order; in that given for 0."""
    return Random(seed).sample(rows, len(rows)) if seed else rows


def to_dict(rows):
    made = {}
    for query, doc, value in rows:
        made.setdefault(str(query), {})[doc] = value
    return made


def read(order):
    """Return the judgments and two runs, each in an order of its own."""
    return [
        to_dict(shuffle(rows, order and order + at)) for at, rows in enumerate((QRELS, OLD, NEW))
    ]


def to_columns(rows, value, *, is_text):
    """Return rows as columns, with queries as text or as integers."""
    return {
        "query_id": [str(query) if is_text else query for query, *_ in rows],
        "doc_id": [doc for _, doc, _ in rows],
        value: [number for *_, number in rows],
    }


def write(rows, value, path):
    text = "{0} 0 {1} {2:g}\n" if value == "relevance" else "{0} Q0 {1} 1 {2!r} run\n"
    path.write_text("".join(text.format(*row) for row in rows))
    return path


FORMS = {
    "dict": lambda rows, _value, _path: to_dict(rows),
    "pandas": lambda rows, value, _path: pd.DataFrame(to_columns(rows, value, is_text=True)),
    "integers": lambda rows, value, _path: pd.DataFrame(to_columns(rows, value, is_text=False)),
    "polars": lambda rows, value, _path: pl.DataFrame(to_columns(rows, value, is_text=True)),
    "arrow": lambda rows, value, _path: pa.table(to_columns(rows, value, is_text=False)),
    "file": write,
}


def tell(result):
    """Return all numbers of a result, as text with all their digits."""
    if hasattr(result, "to_dict"):
        return tell(result.to_dict())
    if hasattr(result, "tolist"):
        return tell(result.tolist())
    if isinstance(result, dict):
        return {key: tell(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [tell(each) for each in result]
    return repr(result)


def same(made, orders=3):
    """Check that a result is the same for each order of rows."""
    first, *others = (tell(made(order)) for order in range(orders))
    for other in others:
        assert other == first
    return True
