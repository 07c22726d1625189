"""What a corpus is: its size, its seed, and the rows of one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Corpus:
    """The size of one pair of files.

    Args:
        name: Folder under the working directory that holds the pair.
        style: The collection whose form is imitated, `marco` or `robust`.
        queries: Number of queries, each both judged and retrieved for.
        depth: Retrieved documents of each query.
        judgments: Lines of the qrels.
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
