"""Measures as SQL, to compute them where the tables are."""

from __future__ import annotations

from rankscope.warehouse.inputs import JoinedTable as JoinedTable
from rankscope.warehouse.inputs import QrelsAndRun as QrelsAndRun
from rankscope.warehouse.statements import write_statements as write_statements

__all__ = ["JoinedTable", "QrelsAndRun", "write_statements"]
