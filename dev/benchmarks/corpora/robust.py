"""A run over the Robust04 newswire: long ids, some 1,200 graded judgments a query."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from dev.benchmarks.corpora.corpus import Corpus, Query
from dev.benchmarks.corpora.scores import draw_scores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

RUN_TAG = "run"
QRELS_SEPARATOR = " "
# Documents of TREC disks 4 and 5 without the Congressional Record, by source.
FEDERAL_REGISTER = 55_630
FINANCIAL_TIMES = 210_158
FBIS = 130_471
LA_TIMES = 131_896


def document_id(number: int) -> str:
    """Name a document as its source does: every number has a name of its own.

    Args:
        number: From 0 to the size of the collection, exclusive.

    Returns:
        An id such as `FBIS4-67701` or `LA043090-0036`.
    """
    if number < FBIS:
        return f"FBIS{3 + number % 2}-{1 + number // 2}"
    number -= FBIS
    if number < LA_TIMES:
        day, page = divmod(number, 181)
        month, day = divmod(day, 28)
        year, month = divmod(month, 12)
        return f"LA{month + 1:02}{day + 1:02}{89 + year:02}-{page:04}"
    number -= LA_TIMES
    if number < FINANCIAL_TIMES:
        return f"FT{911 + number % 34}-{1 + number // 34}"
    number -= FINANCIAL_TIMES
    return f"FR94{1 + number % 12:02}{1 + number // 12 % 28:02}-{number % 3}-{number // 336:05}"


def draw_queries(corpus: Corpus, rng: Random) -> Iterator[Query]:
    """Draw the queries one by one.

    Args:
        corpus: Size of the corpus; every query gets the same number of judgments.
        rng: Source of chance.

    Yields:
        Queries whose judged and relevant documents grow rarer down the list.
    """
    size = FEDERAL_REGISTER + FINANCIAL_TIMES + FBIS + LA_TIMES
    query_ids = islice(chain(range(301, 451), range(601, 701)), corpus.queries)
    judged_count = corpus.judgments // corpus.queries
    for query_id in query_ids:
        numbers = rng.sample(range(size), corpus.depth + judged_count)
        documents = [document_id(number) for number in numbers[: corpus.depth]]
        grades: dict[str, int] = {}
        for index, document in enumerate(documents):
            if len(grades) < judged_count and rng.random() < 0.9 / (1 + index / 150):
                grades[document] = _draw_grade(rng, 0.5 / (1 + index / 30))
        for number in numbers[corpus.depth : corpus.depth + judged_count - len(grades)]:
            grades[document_id(number)] = _draw_grade(rng, 0.02)
        yield Query(
            str(query_id),
            documents,
            draw_scores(rng, corpus.depth),
            dict(sorted(grades.items())),
        )


def _draw_grade(rng: Random, relevant_share: float) -> int:
    if rng.random() >= relevant_share:
        return 0
    return 2 if rng.random() < 0.2 else 1
