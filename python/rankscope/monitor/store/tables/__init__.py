"""The tables of a store: what their rows are, and how they are read and written."""

from __future__ import annotations
