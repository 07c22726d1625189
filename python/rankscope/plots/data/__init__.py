"""The data of plots, as immutable records that don't depend on a plotting library."""

from __future__ import annotations

from rankscope._compare.charts.critical_differences import (
    CriticalDifferences as CriticalDifferences,
)
from rankscope._compare.charts.critical_differences import PlacedRun as PlacedRun
from rankscope._compare.charts.forest import Effect as Effect
from rankscope._compare.charts.forest import Forest as Forest
from rankscope._compare.charts.scatter import QueryScatter as QueryScatter
from rankscope._compare.leaderboard.chart import Standing as Standing
from rankscope._compare.leaderboard.chart import Standings as Standings
from rankscope.bounds.chart import BoundsChart as BoundsChart
from rankscope.bounds.chart import Range as Range
from rankscope.difference.chart import QueryDifferences as QueryDifferences
from rankscope.discounts.chart import DiscountCurves as DiscountCurves
from rankscope.discounts.chart import DiscountLine as DiscountLine
from rankscope.losses.chart import LossBar as LossBar
from rankscope.losses.chart import LossBars as LossBars
from rankscope.plots.data.cutoffs import CutoffCurve as CutoffCurve
from rankscope.plots.data.cutoffs import CutoffLine as CutoffLine
from rankscope.plots.data.cutoffs import PrecisionLine as PrecisionLine
from rankscope.plots.data.cutoffs import PrecisionRecall as PrecisionRecall
