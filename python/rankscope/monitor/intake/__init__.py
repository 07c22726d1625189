"""Files, folders and data frames of events, read batch by batch into a store."""

from __future__ import annotations
