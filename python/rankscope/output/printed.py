"""Results that print as lines and tables, and that notebooks show as HTML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.output.table import Table


class Printed(ABC):
    """A result that prints as lines and tables, and that a notebook shows with the same content."""

    __slots__ = ()

    @abstractmethod
    def _parts(self) -> Sequence[str | Table]:
        """Return the lines and tables, from top to bottom; empty lines separate."""

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_lines, write_result  # noqa: PLC0415 - loads late

        pieces = []
        has_table = False
        for is_line, parts in groupby(self._parts(), lambda part: isinstance(part, str)):
            if is_line:
                # What follows on the first table is about it.
                pieces.append(write_lines(map(str, parts), are_notes=has_table))
            else:
                pieces += [part.write_html() for part in parts if not isinstance(part, str)]
                has_table = True
        return write_result(*pieces)
