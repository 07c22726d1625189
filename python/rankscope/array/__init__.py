"""Measures of batches of rankings, computed where the arrays are: on the CPU or a GPU."""

from __future__ import annotations
