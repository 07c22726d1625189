"""Draw a corpus once, with a manifest that says when it need not be drawn again."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dev.benchmarks.corpora.expected import Expected
from dev.benchmarks.process import run_process
from dev.environments import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from dev.benchmarks.corpora.corpus import Corpus

# The files of each style, by their placeholders in commands.
TREC = {"run": "run.trec", "qrels": "qrels.trec"}
ARRAYS = {"arrays": "arrays.npz"}
FILES = {
    "marco": TREC,
    "robust": TREC,
    "matrices": ARRAYS,
    "recommendations": ARRAYS,
    "recommended-items": ARRAYS,
    "rows": ARRAYS,
    "parquet": {"grouped": "grouped.parquet", "scattered": "scattered.parquet"},
    "text": {"csv": "rows.csv", "jsonl": "rows.jsonl"},
}
# Raise when the drawing changes, so that older files are drawn anew.
FORMAT = 3


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """A corpus on disk.

    Args:
        corpus: What was asked for.
        paths: Its files, by their placeholders.
        expected: The means that every tool must give, by measure.
        sha256: Checksums of the files, by their placeholders.
    """

    corpus: Corpus
    paths: dict[str, Path]
    expected: dict[str, Expected]
    sha256: dict[str, str]

    def read_once(self) -> None:
        """Read all files to the end, so that the page cache holds them."""
        _checksums(self.paths)


def write_corpus(corpus: Corpus, work: Path) -> CorpusFiles:
    """Draw the files of a corpus, unless the same ones are there already.

    They are drawn by a process of its own: no process can be seen to take less memory than the one
    that starts it, so that this one has to stay small.

    Args:
        corpus: The size and the seed.
        work: Directory that holds one folder a corpus.

    Returns:
        The paths and the expected means.
    """
    folder = work / corpus.name
    paths = {name: folder / file for name, file in FILES[corpus.style].items()}
    manifest = folder / "manifest.json"
    identity = {"format": FORMAT, **asdict(corpus)}
    if manifest.exists():
        known = json.loads(manifest.read_text())
        if known["identity"] == identity and known["sha256"] == _checksums(paths):
            return _read(corpus, paths, known)
    folder.mkdir(parents=True, exist_ok=True)
    manifest.unlink(missing_ok=True)
    drawing = [sys.executable, "-m", "dev.benchmarks.corpora.drawing"]
    drawn = run_process([*drawing, json.dumps(asdict(corpus)), *map(str, paths.values())], ROOT)
    known = {
        "identity": identity,
        "sha256": _checksums(paths),
        "expected": json.loads(drawn.output),
    }
    manifest.write_text(json.dumps(known, indent=2) + "\n")
    return _read(corpus, paths, known)


def _read(corpus: Corpus, paths: dict[str, Path], known: dict[str, dict[str, Any]]) -> CorpusFiles:
    expected = {name: Expected(**means) for name, means in known["expected"].items()}
    return CorpusFiles(corpus, paths, expected, known["sha256"])


def _checksums(paths: dict[str, Path]) -> dict[str, str]:
    return {name: _checksum(path) for name, path in paths.items()}


def _checksum(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
