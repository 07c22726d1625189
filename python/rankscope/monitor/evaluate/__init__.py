"""From events to values: grades, values of rankings, windows, days, and baselines."""

from __future__ import annotations
