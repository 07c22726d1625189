"""Write queries and their judgments as the two files of TREC."""

from __future__ import annotations

import random
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dev.benchmarks.corpora import marco, robust
from dev.benchmarks.corpora.expected import Expected, Tally

if TYPE_CHECKING:
    from dev.benchmarks.corpora.corpus import Corpus, Query

STYLES = {"marco": marco, "robust": robust}


def write(corpus: Corpus, run: str, qrels: str) -> dict[str, Expected]:
    """Draw the queries one by one, and write them.

    Args:
        corpus: The size and the seed.
        run: Path of the run.
        qrels: Path of the judgments.

    Returns:
        The means that every tool must give, by measure.
    """
    style = STYLES[corpus.style]
    tally = Tally()
    with (
        Path(run).open("w", newline="\n") as run_file,
        Path(qrels).open("w", newline="\n") as qrels_file,
    ):
        for query in style.draw_queries(corpus, random.Random(corpus.seed)):
            _write_run(query, style.RUN_TAG, run_file)
            _write_qrels(query, style.QRELS_SEPARATOR, qrels_file)
            tally.add(query)
    return tally.means()


def _write_run(query: Query, tag: str, file: IO[str]) -> None:
    rows = zip(query.documents, query.scores, strict=True)
    file.write(
        "".join(
            f"{query.query_id} Q0 {document} {rank} {score:.6f} {tag}\n"
            for rank, (document, score) in enumerate(rows, 1)
        )
    )


def _write_qrels(query: Query, separator: str, file: IO[str]) -> None:
    for document, grade in query.grades.items():
        file.write(separator.join((query.query_id, "0", document, str(grade))) + "\n")
