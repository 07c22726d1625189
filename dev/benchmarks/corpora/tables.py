"""Write drawn rows as Parquet files, by query and in no order, or as CSV and JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dev.benchmarks.corpora import rows
from dev.benchmarks.corpora.expected import Expected

if TYPE_CHECKING:
    from dev.benchmarks.corpora.corpus import Corpus


def write(corpus: Corpus, *paths: str) -> dict[str, Expected]:
    """Draw the rows, and write them.

    Args:
        corpus: The size and the seed.
        *paths: Paths of the files. In all but `scattered.parquet`, rows are together by query.

    Returns:
        The means that every tool must give, by measure; no two scores are equal.
    """
    rng = np.random.default_rng(corpus.seed)
    arrays = rows.draw(corpus, rng)
    table = pa.table(
        {
            "query_id": pa.array(arrays["query"]).cast(pa.string()),
            "doc_id": pa.array(rng.permutation(corpus.judgments)).cast(pa.string()),
            "score": arrays["score"],
            "relevance": arrays["label"],
        }
    )
    grouped = table.take(np.argsort(arrays["query"], kind="stable"))
    if corpus.style == "parquet":
        pq.write_table(grouped, paths[0])
        pq.write_table(table, paths[1])
    else:
        frame = pl.DataFrame(grouped)
        frame.write_csv(paths[0])
        frame.write_ndjson(paths[1])
    means = rows.evaluate(arrays)
    return {measure: Expected(mean, mean, mean) for measure, mean in means.items()}
