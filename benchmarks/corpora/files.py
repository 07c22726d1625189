"""Write a corpus once, with a manifest that says when it need not be written again."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING

from benchmarks.corpora import marco, robust
from benchmarks.corpora.expected import Expected, Tally

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpora.corpus import Corpus, Query

STYLES = {"marco": marco, "robust": robust}
# Raise when the drawing changes, so that older files are written anew.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """A corpus on disk.

    Args:
        corpus: What was asked for.
        qrels: Path of the judgments.
        run: Path of the run.
        expected: The means that every tool must give, by measure.
        sha256: Checksum of the run file, then of the qrels.
    """

    corpus: Corpus
    qrels: Path
    run: Path
    expected: dict[str, Expected]
    sha256: tuple[str, str]

    def read_once(self) -> None:
        """Read both files to the end, so that the page cache holds them."""
        _checksum(self.run)
        _checksum(self.qrels)


def write_corpus(corpus: Corpus, work: Path) -> CorpusFiles:
    """Write the two files of a corpus, unless the same ones are there already.

    Args:
        corpus: The size and the seed.
        work: Directory that holds one folder a corpus.

    Returns:
        The paths and the expected means.
    """
    folder = work / corpus.name
    run, qrels, manifest = folder / "run.trec", folder / "qrels.trec", folder / "manifest.json"
    identity = {"format": FORMAT, **asdict(corpus)}
    if manifest.exists():
        known = json.loads(manifest.read_text())
        if known["identity"] == identity and known["sha256"] == [_checksum(run), _checksum(qrels)]:
            expected = {name: Expected(**means) for name, means in known["expected"].items()}
            return CorpusFiles(corpus, qrels, run, expected, tuple(known["sha256"]))
    folder.mkdir(parents=True, exist_ok=True)
    manifest.unlink(missing_ok=True)
    expected = _write(corpus, run, qrels)
    sha256 = (_checksum(run), _checksum(qrels))
    written = {
        "identity": identity,
        "sha256": sha256,
        "expected": {name: asdict(means) for name, means in expected.items()},
    }
    manifest.write_text(json.dumps(written, indent=2) + "\n")
    return CorpusFiles(corpus, qrels, run, expected, sha256)


def _write(corpus: Corpus, run: Path, qrels: Path) -> dict[str, Expected]:
    style = STYLES[corpus.style]
    tally = Tally()
    with run.open("w", newline="\n") as run_file, qrels.open("w", newline="\n") as qrels_file:
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


def _checksum(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
