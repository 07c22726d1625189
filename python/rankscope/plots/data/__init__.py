"""The data of plots, as immutable records that don't depend on a plotting library."""

from __future__ import annotations

from rankscope.plots.data.bounds import BoundsChart as BoundsChart
from rankscope.plots.data.bounds import Range as Range
from rankscope.plots.data.critical_differences import (
    CriticalDifferences as CriticalDifferences,
)
from rankscope.plots.data.critical_differences import PlacedRun as PlacedRun
from rankscope.plots.data.cutoffs import CutoffCurve as CutoffCurve
from rankscope.plots.data.cutoffs import CutoffLine as CutoffLine
from rankscope.plots.data.differences import QueryDifferences as QueryDifferences
from rankscope.plots.data.discounts import DiscountCurves as DiscountCurves
from rankscope.plots.data.discounts import DiscountLine as DiscountLine
from rankscope.plots.data.discounts import Examined as Examined
from rankscope.plots.data.forest import Effect as Effect
from rankscope.plots.data.forest import Forest as Forest
from rankscope.plots.data.losses import LossBar as LossBar
from rankscope.plots.data.losses import LossBars as LossBars
from rankscope.plots.data.recall import PrecisionLine as PrecisionLine
from rankscope.plots.data.recall import PrecisionRecall as PrecisionRecall
from rankscope.plots.data.scatter import QueryScatter as QueryScatter
