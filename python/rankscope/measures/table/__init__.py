"""The table of measures, in the order in which they are listed."""

from __future__ import annotations

from rankscope.measures.spec import ROWS, Measure, default_measure
from rankscope.measures.table import (
    agreement,
    auc,
    binary,
    cascade,
    count,
    cwl,
    diversity,
    expected_exposure,
    experimental,
    exposure,
    gain,
    items,
    judged,
    loss,
    sampled,
    sets,
)

FAMILIES = (
    gain,
    loss,
    binary,
    experimental,
    sets,
    judged,
    sampled,
    cascade,
    cwl,
    expected_exposure,
    agreement,
    diversity,
    auc,
    items,
    exposure,
    count,
)

TABLE = ROWS
TABLE |= {row.name: row for family in FAMILIES for row in family.ROWS}


def measure(name: str) -> Measure:
    """Return the measure of a row, with the default of every parameter."""
    return default_measure(TABLE[name])
