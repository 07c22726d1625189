"""Writes judgments and runs in the format of TREC."""

from __future__ import annotations


def write_qrels(path, qrels):
    """Write judgments, and return their path as text."""
    return _write(path, "{} 0 {} {}\n", qrels)


def write_run(path, run):
    return _write(path, "{} Q0 {} 1 {} t\n", run)


def _write(path, line, lists):
    rows = [(query, doc, number) for query, docs in lists.items() for doc, number in docs.items()]
    path.write_text("".join(line.format(*row) for row in rows), encoding="utf-8")
    return str(path)
