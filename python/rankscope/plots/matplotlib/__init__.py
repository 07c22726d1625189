"""Plots with Matplotlib, without the global state of pyplot.

Each function draws a record of `plots.data` on the given axes, or on those of a new figure, and
returns the axes. Matplotlib is only imported when you call one of them.
"""

from __future__ import annotations

from rankscope.plots.matplotlib.bounds import draw_bounds as draw_bounds
from rankscope.plots.matplotlib.critical_differences import (
    draw_critical_differences as draw_critical_differences,
)
from rankscope.plots.matplotlib.cutoffs import draw_cutoffs as draw_cutoffs
from rankscope.plots.matplotlib.differences import draw_differences as draw_differences
from rankscope.plots.matplotlib.discounts import draw_discounts as draw_discounts
from rankscope.plots.matplotlib.forest import draw_forest as draw_forest
from rankscope.plots.matplotlib.losses import draw_losses as draw_losses
from rankscope.plots.matplotlib.recall import draw_precision_recall as draw_precision_recall
from rankscope.plots.matplotlib.saving import save as save
from rankscope.plots.matplotlib.saving import to_svg as to_svg
from rankscope.plots.matplotlib.scatter import draw_scatter as draw_scatter
