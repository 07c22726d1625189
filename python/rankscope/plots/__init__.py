"""Plots: `plots.data` has the data of each plot, and `plots.matplotlib` draws them."""

from __future__ import annotations
