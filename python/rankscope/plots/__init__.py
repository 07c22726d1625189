"""Plots: `plots.data` has typed records of what is drawn, `plots.matplotlib` draws them."""

from __future__ import annotations
