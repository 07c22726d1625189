"""Results as JSON documents and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO


class Documented:
    """A result that leaves as JSON, with the same fields as on the command line."""

    __slots__ = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the result as a JSON document, with null for NaN, as `--json` prints it.

        Args:
            indent: The number of blanks by which each level is indented; `None` for one line.
        """
        return write_json(self._document(), indent=indent)

    def _document(self) -> Mapping[str, object]:
        document: Mapping[str, object] = self.to_dict()  # type: ignore[attr-defined]  # each has it
        return document


def write_json(document: Mapping[str, object] | Sequence[object], *, indent: int | None = 2) -> str:
    """Return a JSON document, with null for NaN and text for UUIDs, which JSON does not have."""
    import json  # noqa: PLC0415 - only where JSON is asked for

    return json.dumps(without_nan(document), allow_nan=False, indent=indent, default=str)


def without_nan(value: object) -> object:
    """Replace NaN by `None` at every depth.

    Examples:
        >>> without_nan({"values": [{"a": float("nan")}], "b": (1.0, float("nan"))})
        {'values': [{'a': None}], 'b': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {_write_key(name): without_nan(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _write_key(name: object) -> str | int:
    return name if isinstance(name, str | int) else str(name)  # UUIDs


def write_csv(rows: Iterable[Iterable[str | float | None]]) -> str:
    """Return rows as CSV, with a ' before text that a spreadsheet would run as a formula."""
    from io import StringIO  # noqa: PLC0415 - few need it

    held = StringIO()
    write_rows(rows, held)
    return held.getvalue()


def write_rows(rows: Iterable[Iterable[str | float | None]], stream: TextIO) -> None:
    """Write rows as CSV to a stream; see `write_csv`."""
    import csv  # noqa: PLC0415 - only where CSV is asked for

    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([_defuse(cell) if isinstance(cell, str) else cell for cell in row])


def _defuse(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
