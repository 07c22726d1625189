"""Reads the lines of TREC files into dictionaries, as pytrec_eval does."""

from __future__ import annotations

from collections import defaultdict

from rankscope.errors import DuplicateError, FormatError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Number = TypeVar("Number", int, float)


class RepeatedDocumentError(DuplicateError, AssertionError):
    """The same document twice in a query, which pytrec_eval reports as an `AssertionError`."""


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the judgments in the lines of a TREC file, by query and document.

    Args:
        f_qrel: The lines, such as an open file.

    Raises:
        FormatError: A line doesn't have four fields, or its grade isn't a whole number.
        RepeatedDocumentError: A document is judged twice for a query; it is an `AssertionError`.

    Examples:
        >>> dict(parse_qrel(["q1 0 d1 1", "q1 0 d2 0"]))
        {'q1': {'d1': 1, 'd2': 0}}
    """
    return _parse(f_qrel, "qrels", "query, 0, document, grade", int)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the scores in the lines of a TREC file, by query and document.

    Args:
        f_run: The lines, such as an open file.

    Raises:
        FormatError: A line doesn't have six fields, or its score isn't a number.
        RepeatedDocumentError: A document is listed twice for a query; it is an `AssertionError`.

    Examples:
        >>> dict(parse_run(["q1 Q0 d1 1 0.5 mine"]))
        {'q1': {'d1': 0.5}}
    """
    return _parse(f_run, "run", "query, Q0, document, rank, score, name", float)


def _parse(
    lines: Iterable[str], name: str, fields: str, read: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    count = len(fields.split())
    at, expected, code = 4, "a score", "score_not_number"
    if read is int:
        at, expected, code = 3, "a whole number", "rel_not_number"
    parsed: dict[str, dict[str, Number]] = defaultdict(dict)
    for number, line in enumerate(lines, start=1):
        values = line.split()
        if len(values) != count:
            raise FormatError(
                f"expected {count} fields ({fields}), found {len(values)}",
                hint="fields are separated by blanks or tabs",
                code="field_count",
                file=name,
                line=number,
            )
        query, _, document, *_ = values
        if document in parsed[query]:
            raise RepeatedDocumentError(
                f"expected each document once per query, found {quote(document)} again",
                hint="remove one of the lines",
                code="duplicate_doc",
                file=name,
                line=number,
            )
        try:
            parsed[query][document] = read(values[at])
        except ValueError:
            raise FormatError(
                f"expected {expected}, found {quote(values[at])}",
                hint=f"the fields of a line are {fields}",
                code=code,
                file=name,
                line=number,
            ) from None
    return parsed
