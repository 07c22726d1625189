"""Judges: their agreement, their combined grades, and values estimated from a model's grades."""

from __future__ import annotations
