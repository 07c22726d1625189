"""Reads numbers from columns of text cells, strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._inputs.letor_file import parse_numbers
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from typing import Any


def read_numbers(cells: Any, role: str) -> tuple[Any, None] | tuple[None, tuple[int, FormatError]]:  # noqa: ANN401 - PyArrow has no types
    """Read text cells as numbers. An empty cell is null."""
    try:
        return parse_numbers(cells, role), None
    except FormatError as error:
        return None, ((error.line or 1) - 1, error)
