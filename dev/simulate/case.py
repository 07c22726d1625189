"""What a case of a record is, and what its rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a record.

    Args:
        table: Which table of the page it is in.
        cells: Its cells.
        problem: What is wrong; empty if it is as required.
    """

    table: str
    cells: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a record.

    Args:
        name: What it is called.
        runs: How many runs the record has.
        short: How many runs the short form has.
        rows: Simulates a number of runs, and returns the rows.
    """

    name: str
    runs: int
    short: int
    rows: Callable[[int], list[Row]]
