"""Dates, times, UUIDs, decimals and bytes as the text of IDs, the same from every kind of input.

Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without zeros at
the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import chain

from rankscope.deferred import np
from rankscope.errors import DuplicateError, FormatError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    Foreign: TypeAlias = Any  # of another library


LONGEST = 4096
"""The most characters of an ID."""


def find_spelling(kind: type) -> Callable[[Any], str] | None:
    """Return how objects of a type are spelled; `None` for text, integers, and what is no ID."""
    if issubclass(kind, str | int | float):
        return None
    if issubclass(kind, bytes):
        return _spell_bytes
    if issubclass(kind, np.datetime64):
        return _spell_moment
    # What has such objects has imported the modules of their types.
    datetime, decimal, uuid = map(sys.modules.get, ("datetime", "decimal", "uuid"))
    if datetime is not None and issubclass(kind, datetime.datetime):
        return _spell_datetime
    if datetime is not None and issubclass(kind, datetime.date):
        return lambda value: str(value.isoformat())
    if decimal is not None and issubclass(kind, decimal.Decimal):
        return _spell_decimal
    return str if uuid is not None and issubclass(kind, uuid.UUID) else None


def spell(value: object) -> object:
    """Return the text of an ID, and text, integers and what is no ID as they are."""
    spelling = find_spelling(type(value))
    return value if spelling is None else spelling(value)


def _spell_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"expected IDs in UTF-8, found {value!r:.120}",
            hint="decode them first, or turn them into text: value.hex()",
            code="encoding",
        ) from error


def _spell_decimal(value: Any) -> str:  # noqa: ANN401 - a Decimal
    if not value.is_finite():
        raise _missing(value)
    if abs(value.adjusted()) > LONGEST:
        raise LimitError(
            f"expected IDs of at most {LONGEST:,} characters, found {value:.3E}",
            hint="turn the IDs into text",
            code="id_length",
        )
    return _trim(f"{value:f}") if value else "0"


def _spell_datetime(value: Any) -> str:  # noqa: ANN401 - a datetime, or a Timestamp of pandas
    if type(value).__name__ == "NaTType":
        raise _missing(value)
    if value.tzinfo is None:
        return _trim(value.isoformat())
    if hasattr(value, "tz_convert"):
        return _trim(value.tz_convert("UTC").tz_localize(None).isoformat()) + "Z"
    return _trim((value - value.utcoffset()).replace(tzinfo=None).isoformat()) + "Z"


def _spell_moment(value: Any) -> str:  # noqa: ANN401 - a scalar of NumPy
    if np.isnat(value):
        raise _missing(value)
    return _trim(str(np.datetime_as_string(value)))


def _missing(value: object) -> FormatError:
    return FormatError(
        f"expected IDs, found {value}",
        hint="drop the rows without an ID",
        code="missing_id",
    )


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def spell_key_ids(given: Any) -> Any:  # noqa: ANN401 - a mapping, or a column of pandas
    """Return documents by query with IDs as text or integers, the same mapping if they are.

    The first query and its first document say what the others are.
    """
    # A column of pandas has pairs, but no keys that can be iterated.
    pairs = given.items()
    query = next((key for key, _ in pairs), None)
    docs = next((docs for _, docs in pairs if _has_members(docs)), ())
    first = next(iter(docs), None)
    first = first[0] if isinstance(first, tuple) and first else first
    if find_spelling(type(query)) is None and find_spelling(type(first)) is None:
        return given
    made = {spell(key): _spell_documents(docs) for key, docs in pairs}
    _refuse_merged(len(given), len(made))
    return made


def _has_members(docs: object) -> bool:
    return isinstance(docs, Mapping | list | tuple | set | frozenset) and len(docs) > 0


def _spell_documents(docs: Any) -> Any:  # noqa: ANN401 - what a caller has
    if isinstance(docs, Mapping):
        made = {spell(doc): number for doc, number in docs.items()}
    elif isinstance(docs, set | frozenset):
        made = set(map(spell, docs))  # type: ignore[assignment]  # a set
    elif isinstance(docs, list | tuple):
        return [(spell(doc[0]), *doc[1:]) if isinstance(doc, tuple) else spell(doc) for doc in docs]
    else:
        return docs
    _refuse_merged(len(docs), len(made))
    return made


def _refuse_merged(before: int, after: int) -> None:
    if after < before:
        raise DuplicateError(
            "expected different IDs, found two that are the same text",
            hint="bytes and text are one ID if they have the same characters",
            code="duplicate_id",
        )


def spell_row_ids(rows: Any) -> Any:  # noqa: ANN401 - rows of any kind
    """Return rows of IDs and a number with IDs as text or integers; see `spell_key_ids`."""
    if hasattr(rows, "__next__"):
        first = next(rows, None)
        rows = rows if first is None else chain([first], rows)
    else:
        first = next(iter(rows), None)
    if not isinstance(first, tuple | list) or not any(find_spelling(type(each)) for each in first):
        return rows
    return _spell_each(rows)


def _spell_each(rows: Iterable[Any]) -> Iterator[Any]:
    for row in rows:
        yield (*map(spell, row[:-1]), *row[-1:]) if isinstance(row, tuple | list) else row
