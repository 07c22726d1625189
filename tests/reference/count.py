"""Counts of documents and queries."""

from __future__ import annotations

from tests.reference.query import Query


def num_ret(query: Query, *, k: int | None, rel: float | None) -> float:
    """Return the number of retrieved documents, or of the relevant ones among them."""
    return float(len(query.ranking[:k]) if rel is None else len(query.relevant_ranks(rel, k)))


def num_rel(query: Query, *, rel: float) -> float:
    """Return the number of relevant documents."""
    return float(query.relevant(rel))


def num_q(query: Query) -> float:  # noqa: ARG001 - every query counts as one, whatever it is
    """Return 1 for the query."""
    return 1.0


def num_nonrel_ret(query: Query, *, rel: float) -> float:
    """Return the number of retrieved documents that are judged not relevant."""
    return float(sum(grade is not None and 0 <= grade < rel for grade in query.ranking))
