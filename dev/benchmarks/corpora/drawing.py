"""Draw a corpus: `python -m dev.benchmarks.corpora.drawing CORPUS FILE...`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from dev.benchmarks.corpora import arrays, tables, trec
from dev.benchmarks.corpora.corpus import Corpus

WRITERS = dict.fromkeys(trec.STYLES, trec.write) | dict.fromkeys(("parquet", "text"), tables.write)


def main(asked: str, *files: str) -> None:
    """Draw a corpus, and print the expected means.

    Args:
        asked: The corpus as JSON.
        *files: Paths of its files, in their order.
    """
    corpus = Corpus(**json.loads(asked))
    expected = (WRITERS.get(corpus.style) or arrays.write)(corpus, *files)
    print(json.dumps({measure: asdict(means) for measure, means in expected.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
