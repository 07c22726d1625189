"""Data to train rankers with: made up, and that of LightGBM's own example."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.parity.real import find


@dataclass(frozen=True)
class Part:
    """Rows sorted by query, of which the sizes are the number of rows of each."""

    features: Any
    grades: Any
    sizes: Any

    @property
    def query(self):
        """The query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


@cache
def made_up(*, has_empty=True):
    """Rows for training and for validation, some of whose queries have nothing relevant."""
    rng = np.random.default_rng(11)
    parts = []
    for queries in (60, 30):
        sizes = rng.integers(2, 30, size=queries)
        features = rng.normal(size=(sizes.sum(), 5))
        noise = rng.normal(size=sizes.sum())
        grades = np.clip(np.round(features[:, 0] + features[:, 1] + noise), 0, 4).astype(int)
        starts = np.cumsum(sizes) - sizes
        grades[starts] = np.maximum(grades[starts], 1)
        if has_empty:
            grades[-sizes[-2:].sum() :] = 0
        parts.append(Part(features, grades, sizes))
    return parts[0], parts[1]


@cache
def real():
    """The rows of LightGBM's example of ranking, for training and for validation."""
    folder = find("lightgbm")
    datasets = pytest.importorskip("sklearn.datasets")
    files = [folder / "rank.train", folder / "rank.test"]
    loaded = datasets.load_svmlight_files([str(file) for file in files])
    parts = [
        Part(loaded[2 * place].toarray(), loaded[2 * place + 1], np.loadtxt(f"{file}.query", int))
        for place, file in enumerate(files)
    ]
    return parts[0], parts[1]


PARTS = [pytest.param(made_up, id="made up"), pytest.param(real, id="real")]
