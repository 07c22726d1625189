"""A run over MS MARCO passages: numeric ids of varying length, one relevant passage or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dev.benchmarks.corpora.corpus import Corpus, Query
from dev.benchmarks.corpora.scores import draw_scores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

PASSAGES = 8_841_823
LARGEST_QUERY_ID = 1_102_432
RETRIEVED_SHARE = 0.857
RUN_TAG = "bm25f"
QRELS_SEPARATOR = "\t"


def draw_queries(corpus: Corpus, rng: Random) -> Iterator[Query]:
    """Draw the queries one by one.

    Args:
        corpus: Size of the corpus; judgments beyond one a query go to the first queries.
        rng: Source of chance.

    Yields:
        Queries whose relevant passages are mostly retrieved, at ranks spread log-uniformly.
    """
    query_ids = rng.sample(range(1, LARGEST_QUERY_ID), corpus.queries)
    with_two = corpus.judgments - corpus.queries
    for number, query_id in enumerate(query_ids):
        relevant_count = 2 if number < with_two else 1
        passages = rng.sample(range(PASSAGES), corpus.depth + relevant_count)
        documents = [str(passage) for passage in passages[: corpus.depth]]
        missed = [str(passage) for passage in passages[corpus.depth :]]
        relevant = {
            documents[int(corpus.depth ** rng.random()) - 1]
            if rng.random() < RETRIEVED_SHARE
            else document
            for document in missed
        }
        # Both passages may land on one rank: the second is then one that was not retrieved.
        relevant.update(missed[: relevant_count - len(relevant)])
        yield Query(
            str(query_id),
            documents,
            draw_scores(rng, corpus.depth),
            dict.fromkeys(sorted(relevant), 1),
        )
