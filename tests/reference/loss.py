"""Three losses that add up to 1 - nDCG."""

from __future__ import annotations

import math
from typing import TypedDict, Unpack

from tests.reference.gain import Discount, Gain, dcg, discounted, gain_of, idcg
from tests.reference.logarithm import add
from tests.reference.query import Query


class Settings(TypedDict):
    """What nDCG takes, whose losses they are."""

    k: int | None
    gain: Gain
    discount: Discount
    ideal: str


ROUNDING = 1e-15
"""The largest rounding error of a loss of 0, as a share of the ideal."""


def retrieval_loss(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the loss due to relevant documents that were not retrieved."""
    if settings["ideal"] == "retrieved":
        return _share(query, 0.0, **settings)
    judged = "whole" if settings["ideal"] == "whole" else "judged"
    wanted: Settings = {**settings, "ideal": judged}
    best = idcg(query, **wanted)
    return _share(query, best - _best_of_retrieved(query, **settings), **settings)


def truncation_loss(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the loss due to relevant documents that were retrieved below the cutoff."""
    lost = _best_of_retrieved(query, **settings) - _best_of_shown(query, **settings)
    return _share(query, lost, **settings)


def ordering_loss(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the loss due to the order of the documents above the cutoff."""
    found = dcg(query, k=settings["k"], gain=settings["gain"], discount=settings["discount"])
    return _share(query, _best_of_shown(query, **settings) - found, **settings)


def _share(query: Query, lost: float, **settings: Unpack[Settings]) -> float:
    """Return the loss divided by the ideal, with negative rounding errors set to 0."""
    gains = [gain_of(query, grade, settings["gain"]) for grade in query.judged]
    if settings["ideal"] == "slots" and all(gain <= 0 for gain in gains):
        return math.nan
    best = idcg(query, **settings)
    if best <= 0:
        return math.nan
    return 0.0 if -ROUNDING * best <= lost < 0 else lost / best


def _best_of_retrieved(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the discounted gain of the best order of the retrieved documents."""
    depth = None if settings["ideal"] == "whole" else settings["k"]
    wanted: Settings = {**settings, "k": depth, "ideal": "retrieved"}
    return idcg(query, **wanted)


def _best_of_shown(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the discounted gain of the best order of the documents above the cutoff."""
    shown = query.ranking[: settings["k"]]
    gains = sorted((gain_of(query, grade, settings["gain"]) for grade in shown), reverse=True)
    return add(discounted(gain, rank, settings["discount"]) for rank, gain in enumerate(gains, 1))
