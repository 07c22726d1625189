"""Measures as SQL, to compute them where the tables are."""

from __future__ import annotations

from rankscope.sql.compute import write_sql as write_sql
from rankscope.sql.inputs import Dialect as Dialect
from rankscope.sql.inputs import TableName as TableName
from rankscope.sql.statements import SqlStatements as SqlStatements

__all__ = ["Dialect", "SqlStatements", "TableName", "write_sql"]
