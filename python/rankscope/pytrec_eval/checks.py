"""Refuses what pytrec_eval refuses: other types than it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

from rankscope.errors import InputTypeError


def check_grades(given: object) -> None:
    """Raise an error unless these are dictionaries of whole numbers by query and document."""
    hint = "rankscope.evaluate also takes decimal grades, and numbers of NumPy"
    _check(given, "query_relevance", int, "a whole number", hint)


def check_scores(given: object) -> None:
    """Raise an error unless these are dictionaries of numbers by query and document."""
    _check(given, "scores", (float, int), "a float or an int", "float() makes one of a number")


def _check(
    given: object, name: str, numbers: type | tuple[type, ...], expected: str, hint: str
) -> None:
    if not isinstance(given, Mapping):
        raise wrong_type(name, "a dictionary of dictionaries by query", given)
    _check_ids(given, name, "queries")
    for query, documents in given.items():
        place = f"{name}[{query!r}]"
        if not isinstance(documents, dict):
            raise wrong_type(place, "a dictionary by document", documents)
        _check_ids(documents, place, "documents")
        if not _are(documents.values(), numbers):
            for document, number in documents.items():
                if not isinstance(number, numbers):
                    raise wrong_type(f"{place}[{document!r}]", expected, number, hint)


def _check_ids(ids: Iterable[object], place: str, what: str) -> None:
    if not _are(ids, str):
        wrong = next(id_ for id_ in ids if not isinstance(id_, str))
        raise wrong_type(place, f"IDs of {what} as text", wrong, "str() makes text of an ID")


def _are(values: Iterable[object], kinds: type | tuple[type, ...]) -> bool:
    """Check whether all values are of these types, of which there are few."""
    return all(issubclass(kind, kinds) for kind in set(map(type, values)))


def read_whole(given: object, name: str) -> int:
    """Return a whole number, which can be of another library."""
    try:
        return index(given)  # type: ignore[arg-type]  # others are errors
    except TypeError:
        hint = "write it without a decimal point"
        raise wrong_type(name, "a whole number", given, hint) from None


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


def wrong_type(
    place: str, expected: str, found: object, hint: str = 'write {"q1": {"d1": 1}}'
) -> InputTypeError:
    """Return the error for an argument of another type."""
    return InputTypeError(
        f"expected {expected}, found {type(found).__name__}",
        hint=hint,
        code="input_type",
        file=place,
    )
