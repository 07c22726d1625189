"""Every measure as one row, in the order in which they are listed."""

from __future__ import annotations

from rankscope.measures.spec import ROWS, Measure, default_measure
from rankscope.measures.table import binary, cascade, count, gain, judged, loss, sets

FAMILIES = (gain, loss, binary, sets, judged, cascade, count)

TABLE = ROWS
TABLE |= {row.name: row for family in FAMILIES for row in family.ROWS}


def measure(name: str) -> Measure:
    """Make the measure of a row, every parameter at its default.

    Args:
        name: The name of the row, exactly.
    """
    return default_measure(TABLE[name])
