"""Write drawn rows as two Parquet files: with the rows of each query together, and in no order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dev.benchmarks.corpora import rows
from dev.benchmarks.corpora.expected import Expected

if TYPE_CHECKING:
    from dev.benchmarks.corpora.corpus import Corpus


def write(corpus: Corpus, grouped: str, scattered: str) -> dict[str, Expected]:
    """Draw the rows, and write them.

    Args:
        corpus: The size and the seed.
        grouped: Path of the file in which the rows of each query are together.
        scattered: Path of the file in which they are anywhere.

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
    pq.write_table(table, scattered)
    pq.write_table(table.take(np.argsort(arrays["query"], kind="stable")), grouped)
    means = rows.evaluate(arrays)
    return {measure: Expected(mean, mean, mean) for measure, mean in means.items()}
