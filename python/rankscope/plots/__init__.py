"""Plots with Matplotlib: each function draws a result, and returns the axes.

They don't use the global state of pyplot. Matplotlib is only imported when you call one of them.
"""

from __future__ import annotations

from rankscope._compare.leaderboard.result import draw_leaderboard as draw_leaderboard
from rankscope._drawing import save as save
from rankscope._drawing import to_svg as to_svg
from rankscope.plots.comparisons import draw_critical_differences as draw_critical_differences
from rankscope.plots.comparisons import draw_forest as draw_forest
from rankscope.plots.comparisons import draw_slices as draw_slices
from rankscope.plots.curves import draw_bounds as draw_bounds
from rankscope.plots.curves import draw_cutoffs as draw_cutoffs
from rankscope.plots.curves import draw_discounts as draw_discounts
from rankscope.plots.curves import draw_losses as draw_losses
from rankscope.plots.curves import draw_precision_recall as draw_precision_recall
from rankscope.plots.queries import draw_differences as draw_differences
from rankscope.plots.queries import draw_scatter as draw_scatter
