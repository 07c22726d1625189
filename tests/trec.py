"""Writes judgments and runs in the format of TREC."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Lists = Mapping[str, Mapping[str, float]]


def write_qrels(path: Path, qrels: Lists) -> str:
    """Write judgments, and return their path as text."""
    return _write(path, "{} 0 {} {}\n", qrels)


def write_run(path: Path, run: Lists) -> str:
    return _write(path, "{} Q0 {} 1 {} t\n", run)


def _write(path: Path, line: str, lists: Lists) -> str:
    rows = [(query, doc, number) for query, docs in lists.items() for doc, number in docs.items()]
    path.write_text("".join(line.format(*row) for row in rows), encoding="utf-8")
    return str(path)
