"""Queries and documents that people judged in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rankscope.judges.powered import Items

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DISCOUNTS = 1 / np.log2(np.arange(2, 7))


def make_queries(
    human: ArrayLike,
    model: ArrayLike,
    others: ArrayLike = (),
    *,
    unchanged: int = 0,
    limits: tuple[float, float] = (0.0, 1.0),
    strata: ArrayLike | None = None,
    chances: ArrayLike | None = None,
) -> Items:
    """Return queries that people and a model judged, others of the model, and unchanged ones."""
    by_people, by_model = np.asarray(human, np.float64), np.asarray(model, np.float64)
    rest = np.asarray(others, np.float64)
    count = len(by_people) + len(rest) + unchanged
    fill = np.zeros(unchanged)
    return Items(
        sizes=np.concatenate([np.ones(count - unchanged), fill]),
        human=np.concatenate([by_people, np.full(len(rest), np.nan), fill]),
        model=np.concatenate([by_model, rest, fill]),
        chances=np.ones(count) if chances is None else np.asarray(chances, np.float64),
        strata=np.zeros(count, np.int64) if strata is None else np.asarray(strata, np.int64),
        count=count,
        limits=limits,
    )


def make_documents(
    human: np.ndarray,
    model: np.ndarray,
    is_judged: np.ndarray,
    limits: tuple[float, float] = (0.0, 3.0),
) -> Items:
    """Return documents with gains [queries, ranks]."""
    queries, depth = human.shape
    return Items(
        sizes=np.tile(DISCOUNTS[:depth], queries),
        model=model.ravel().astype(float),
        human=np.where(is_judged, human, np.nan).ravel(),
        chances=np.ones(human.size),
        strata=np.zeros(human.size, np.int64),
        queries=np.repeat(np.arange(queries), depth),
        count=queries,
        limits=limits,
        reach=float(DISCOUNTS[:depth].sum()),
    )
