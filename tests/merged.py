"""Compares what Spark evaluates with what the local engine does."""

from __future__ import annotations


def bits(evaluation):
    """Return everything that an evaluation says, but for the order of queries and rows of notes."""
    values = sorted(evaluation.to_dict().items(), key=lambda each: str(each[0]))
    notes = [(note.code, note.count, note.sentence, note.file) for note in evaluation.notes]
    counted = (dict(evaluation), evaluation.denominators, evaluation.counts)
    return repr((counted, notes, str(evaluation.policy), dict(values), str(evaluation.slices)))
