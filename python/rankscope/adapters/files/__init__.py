"""Files of tables: CSV, JSON Lines, Parquet, Arrow, SVMlight; read batch by batch with PyArrow."""

from __future__ import annotations

from rankscope.adapters.files.table import TableFile as TableFile
from rankscope.adapters.files.table import open_batches as open_batches
