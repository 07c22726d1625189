"""The questions people ask: series, data quality, traces, queries that fell, and explanations."""

from __future__ import annotations
