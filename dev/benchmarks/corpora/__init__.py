"""Seeded stand-ins for test collections, recommendations and tables, drawn once."""

from __future__ import annotations
