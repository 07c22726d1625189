"""Refuses what pytrec_eval refuses: other types than it takes."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index

from rankscope.errors import FormatError, InputTypeError
from rankscope.names import quote

ID_HINT = "str() makes text of an ID"
MOST = 2**53
"""The largest grade: double precision holds all whole numbers up to this one."""


def check_grades(given: object) -> None:
    """Raise an error unless these are dictionaries of whole numbers by query and document."""
    hint = "rankscope.evaluate also takes decimal grades, and numbers of NumPy"
    _check(given, "query_relevance", (int,), "a whole number", hint)


def check_scores(given: object) -> None:
    """Raise an error unless these are dictionaries of numbers by query and document."""
    _check(given, "scores", (float, int), "a float or an int", "float() makes one of a number")


def _check(given: object, name: str, numbers: tuple[type, ...], expected: str, hint: str) -> None:
    if not isinstance(given, Mapping):
        raise _wrong(name, "a dictionary of dictionaries by query", given)
    ids: set[type] = set(map(type, given))
    kinds: set[type] = set()
    for query, documents in given.items():
        if not isinstance(documents, dict):
            raise _wrong(f"{name}[{query!r}]", "a dictionary by document", documents)
        ids.update(map(type, documents))
        kinds.update(map(type, documents.values()))
    if all(issubclass(kind, str) for kind in ids) and all(
        issubclass(kind, numbers) for kind in kinds
    ):
        return
    for query, documents in given.items():
        if not isinstance(query, str):
            raise _wrong(name, "IDs of queries as text", query, ID_HINT)
        for document, number in documents.items():
            if not isinstance(document, str):
                raise _wrong(f"{name}[{query!r}]", "IDs of documents as text", document, ID_HINT)
            if not isinstance(number, numbers):
                raise _wrong(f"{name}[{query!r}][{document!r}]", expected, number, hint)


def read_grade(grade: int) -> float:
    """Return a grade as the core computes with it."""
    if abs(grade) > MOST:
        raise FormatError(
            f"expected grades from -2**53 to 2**53, found {quote(grade)}",
            hint="larger numbers would be rounded",
            code="inexact_number",
            file="query_relevance",
        )
    return float(grade)


def read_whole(given: object, name: str) -> int:
    """Return a whole number, which can be of another library."""
    try:
        return index(given)  # type: ignore[arg-type]  # others are errors
    except TypeError:
        raise _wrong(name, "a whole number", given, "write it without a decimal point") from None


def read_level(given: object) -> int:
    """Return the lowest relevant grade."""
    level = read_whole(given, "relevance_level")
    if level < 1:
        raise InputTypeError(
            f"expected 1 or more, found {level}",
            hint="grade 0 means that a document isn't relevant",
            code="bad_parameter",
            file="relevance_level",
        )
    return level


def _wrong(
    place: str, expected: str, found: object, hint: str = 'write {"q1": {"d1": 1}}'
) -> InputTypeError:
    return InputTypeError(
        f"expected {expected}, found {type(found).__name__}",
        hint=hint,
        code="input_type",
        file=place,
    )
