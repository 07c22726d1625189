"""What an entry of the catalogue of bad input is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Row = tuple[object, object, object]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a file may hold, and what must happen.

    Args:
        id: Its number in the catalogue, T for qrels and R for runs, and a word for the variant.
        text: The file.
        code: The code of the error; empty where it is accepted.
        line: The line that the error names.
        column: The column that it names.
        hint: Words that its hint must have.
        notes: The codes that the diagnostics must have, and no others.
        rows: The same data as objects; none where only text can be so. What is accepted has the
            values that the reference computes from them.
        role: Whether the text is given as judgments or as the run.
        place: Where in a large file it may stand.
        form: The format, as the names of its files end; empty for that of TREC.
        is_named: Whether the format has to be named.
        judged: The judgments of the run, where they are not the plain ones.
    """

    id: str
    text: bytes
    code: str = ""
    line: int | None = None
    column: int | None = None
    hint: str = ""
    notes: tuple[str, ...] = ()
    rows: tuple[Row, ...] | None = None
    role: Literal["qrels", "run"] = "qrels"
    place: Literal["anywhere", "first", "last", "alone"] = "anywhere"
    form: str = ""
    is_named: bool = False
    judged: tuple[Row, ...] | None = None


def lines(*texts):
    return "".join(f"{text}\n" for text in texts).encode()


def nested(rows):
    """Return rows as a mapping of mappings; none where one would drop a row."""
    made = {}
    for query, doc, number in rows:
        docs = made.setdefault(query, {})
        if doc in docs:
            return None
        docs[doc] = number
    return made


def flatten(lists):
    """Return the rows of nested mappings."""
    return [(query, doc, number) for query, docs in lists.items() for doc, number in docs.items()]


QRELS_ROWS = (
    ("q1", "d1", 2),
    ("q1", "d2", 0),
    ("q1", "d3", 1),
    ("q2", "d1", 1),
    ("q2", "d4", 0),
)
QRELS = lines(*(f"{query} 0 {doc} {grade}" for query, doc, grade in QRELS_ROWS))
RUN_ROWS = (
    ("q1", "d2", 3.0),
    ("q1", "d1", 2.5),
    ("q1", "d9", 2.0),
    ("q1", "d3", 1.0),
    ("q2", "d4", 0.9),
    ("q2", "d1", 0.4),
)
RUN = lines(
    "q1 Q0 d2 1 3.0 t",
    "q1 Q0 d1 2 2.5 t",
    "q1 Q0 d9 3 2.0 t",
    "q1 Q0 d3 4 1.0 t",
    "q2 Q0 d4 1 0.9 t",
    "q2 Q0 d1 2 0.4 t",
)
