"""What a corpus is: its size, its seed, and the rows of one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Corpus:
    """The size of what is drawn.

    Args:
        name: Folder under the working directory that holds the files.
        style: What is imitated: the module beside this one that draws it.
        queries: Number of queries.
        depth: Retrieved documents of each query, or of the average one.
        judgments: Grades of all queries.
        seed: Seed of the one generator that draws everything.
    """

    name: str
    style: str
    queries: int
    depth: int
    judgments: int
    seed: int = 20261121


@dataclass(frozen=True, slots=True)
class Query:
    """One query's rows: documents by falling score, and its judgments.

    Args:
        query_id: Identifier of the query.
        documents: Retrieved document ids, in file order.
        scores: Score of each document, exactly as the file prints it.
        grades: Grade of each judged document, retrieved or not.
    """

    query_id: str
    documents: list[str]
    scores: list[float]
    grades: dict[str, int]
