"""Mean DCG estimated from human grades of a sample of documents and a model's grades of all."""

from __future__ import annotations

from rankscope.records import record
from rankscope.stats.judges.agreement import correlate
from rankscope.stats.judges.powered import DOUBTED_QUERIES, Powered, find_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@record(frozen=True, slots=True, kw_only=True)
class RetrievedDocuments:
    """The documents of a run that are at or above the cutoff.

    Args:
        queries: int64, the query of each document, counted from 0.
        discounts: float64, the discount at its rank.
        model: float64, its gain by the model.
        human: float64, its gain by people, NaN if they did not judge it.
        chances: float64, the probability with which people were asked about it.
    """

    queries: NDArray[np.int64]
    discounts: NDArray[np.float64]
    model: NDArray[np.float64]
    human: NDArray[np.float64]
    chances: NDArray[np.float64]


@record(frozen=True, slots=True)
class _Parts:
    """What each query contributes to a mean: fixed + weight x by_model."""

    fixed: NDArray[np.float64]
    by_model: NDArray[np.float64]

    def take(self, weight: float) -> NDArray[np.float64]:
        return self.fixed + weight * self.by_model


def estimate_dcg(
    runs: Sequence[RetrievedDocuments],
    queries: int,
    *,
    level: float,
    low: float,
    high: float,
) -> Powered:
    """Estimate the mean DCG of a run, or the difference between two.

    DCG is a sum of gains times discounts. The model's gain of each document is corrected by the
    mean difference between human and model gains over the documents that people judged, weighted by
    discount / probability of being judged. This is a ratio estimator (Särndal, Swensson and
    Wretman, *Model assisted survey sampling*, 1992) with the tuned weight of PPI++. The variance is
    that of the linearized estimate between queries.

    Args:
        runs: The documents of the run, and of the baseline, if there is one.
        queries: The number of queries.
        level: The confidence level.
        low: The lowest possible value, or minus infinity.
        high: The highest possible value, or infinity.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    parts = [_linearize(run, queries) for run in runs]
    whole = parts[0]
    if len(parts) > 1:
        whole = _Parts(parts[0].fixed - parts[1].fixed, parts[0].by_model - parts[1].by_model)
    spread = float(whole.by_model.var(ddof=1))
    slope = 0.0
    if spread > 0:
        slope = -float(np.cov(whole.fixed, whole.by_model)[0, 1]) / spread
    weight = min(max(slope, 0.0), 1.0)
    # Only queries with human grades tell how much those differ from the model's.
    clusters = min(_count_effective(run, queries) for run in runs)
    factor = clusters / (clusters - 1) / queries
    alone = factor * float(whole.fixed.var(ddof=1))
    mixed = factor * float(whole.take(weight).var(ddof=1))
    if weight > 0:
        doubt = DOUBTED_QUERIES / (clusters - 1 + DOUBTED_QUERIES)
        mixed = (1 - doubt) * mixed + doubt * alone
    values = whole.take(weight)
    value, human = float(values.mean()), float(whole.fixed.mean())
    degrees = clusters - 1 - (0 < slope < 1)
    lower, upper = find_ends(value, mixed, (values - value) / queries, degrees, level)
    human_ends = find_ends(human, alone, (whole.fixed - human) / queries, clusters - 1, level)
    signs = (1, -1)
    of_model = sum(
        sign * float(run.discounts @ run.model) for sign, run in zip(signs, runs, strict=False)
    )
    is_judged = ~np.isnan(runs[0].human)
    return Powered(
        value=value,
        lower=max(lower, low),
        upper=min(upper, high),
        human=human,
        human_lower=max(human_ends[0], low),
        human_upper=min(human_ends[1], high),
        model=of_model / queries,
        weight=weight,
        correlation=correlate(runs[0].human[is_judged], runs[0].model[is_judged]),
        gain=alone / mixed if mixed > 0 else 1.0,
        shift=0.0,
    )


def _count_effective(run: RetrievedDocuments, queries: int) -> float:
    """Return Kish's effective number of queries with human grades, by their weights."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    weights = np.where(np.isnan(run.human), 0, run.discounts / run.chances)
    sums = np.bincount(run.queries, weights=weights, minlength=queries)
    return float(sums.sum() ** 2 / (sums @ sums))


def _linearize(run: RetrievedDocuments, queries: int) -> _Parts:
    """Return what each query contributes to the mean DCG of a run, to first order."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    def add_up(at: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(at, weights=numbers, minlength=queries).astype(np.float64)

    is_judged = ~np.isnan(run.human)
    judged = RetrievedDocuments(
        queries=run.queries[is_judged],
        discounts=run.discounts[is_judged],
        model=run.model[is_judged],
        human=run.human[is_judged],
        chances=run.chances[is_judged],
    )
    weights = judged.discounts / judged.chances
    total = float(weights.sum())
    human, model = (float(weights @ gain) / total for gain in (judged.human, judged.model))
    discounts = add_up(run.queries, run.discounts)
    scale = float(discounts.sum()) / total

    # Each residual as if the document itself had not been part of the mean, as in HC3.
    shares = weights / (1 - np.minimum(weights / total, 0.5))

    def spread(gains: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
        residuals = shares * (gains - mean)
        residuals -= weights * (residuals.sum() / total)
        return mean * discounts + scale * add_up(judged.queries, residuals)

    return _Parts(
        spread(judged.human, human),
        add_up(run.queries, run.discounts * run.model) - spread(judged.model, model),
    )
