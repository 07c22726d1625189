"""Plots with Matplotlib, without the global state of pyplot.

Each function draws a record of `plots.data` on the given axes, or on those of a new figure, and
returns the axes. Matplotlib is only imported when you call one of them.
"""

from __future__ import annotations

from rankscope._compare.charts.critical_differences import (
    draw_critical_differences as draw_critical_differences,
)
from rankscope._compare.charts.forest import draw_forest as draw_forest
from rankscope._compare.charts.scatter import draw_scatter as draw_scatter
from rankscope._compare.leaderboard.chart import draw_standings as draw_standings
from rankscope.bounds.plot import draw_bounds as draw_bounds
from rankscope.difference.chart import draw_differences as draw_differences
from rankscope.discounts.chart import draw_discounts as draw_discounts
from rankscope.drawing.saving import save as save
from rankscope.drawing.saving import to_svg as to_svg
from rankscope.losses.plot import draw_losses as draw_losses
from rankscope.plots.matplotlib.cutoffs import draw_cutoffs as draw_cutoffs
from rankscope.plots.matplotlib.cutoffs import draw_precision_recall as draw_precision_recall
