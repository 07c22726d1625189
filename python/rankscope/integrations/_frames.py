"""Measures of rows that are sorted by query, as training libraries pass them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import rankscope as rs
from rankscope._settings import ties_of
from rankscope.errors import UsageError


def list_measures(measures: str | rs.Measure | Iterable[str | rs.Measure]) -> list[rs.Measure]:
    """Return one or more measures as a list."""
    several = [measures] if isinstance(measures, str | rs.Measure) else measures
    return [rs.parse(measure) for measure in several]


class GroupedMeasures:
    """Measures with a policy or a convention, of rows that are sorted by query.

    The first measure decides when training stops.

    Examples:
        >>> measures = GroupedMeasures(["RR@10", "P@1"])
        >>> measures.evaluate([1, 0, 0, 2], [0.1, 0.2, 0.3, 0.4], [3, 1])
        [0.6666666666666666, 0.5]
    """

    def __init__(
        self,
        measures: str | rs.Measure | Sequence[str | rs.Measure],
        policy: rs.Policy | str | None = None,
        convention: str | None = None,
    ) -> None:
        self.measures = list_measures(measures)
        self._settings: dict[str, Any] = {"policy": policy, "convention": convention}
        if not self.measures:
            problem = "expected at least one measure, found none"
            raise UsageError(problem, hint='pass "nDCG@10"', code="usage")
        for measure in self.measures:
            if measure.better == "neither":
                problem = f"{measure} doesn't say which of two rankings is better"
                hint = "train and tune with another measure, such as nDCG@10"
                raise UsageError(problem, hint=hint, code="no_direction")
        # A table chooses the order of ties that the policy or the convention names, and refuses
        # what is wrong with either of them before training begins.
        row = {"query_id": ["q"], "relevance": [0.0], "score": [0.0]}
        self._ties = ties_of(rs.evaluate(row, self.measures, **self._settings).policy)

    def evaluate(
        self,
        grades: ArrayLike,
        scores: ArrayLike,
        sizes: Any,
        weights: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the mean of each measure over the queries, which have so many rows and weights."""
        if sizes is None or len(sizes) == 0:
            raise UsageError(
                "the data to evaluate have no queries",
                hint="pass group=sizes (the rows of each query) or qid=ids where you create the "
                "dataset",
                code="no_groups",
            )
        rankings = rs.Rankings.from_groups(grades, scores, sizes, ties=self._ties)
        evaluation = rankings.evaluate(self.measures, weights=weights, **self._settings)
        return [evaluation[measure] for measure in self.measures]


def average_by_query(weights: Any, sizes: Any) -> list[float]:
    """Return the mean weight of the rows of each query, all of which have rows."""
    rows = np.asarray(sizes)
    sums = np.add.reduceat(np.asarray(weights, dtype=np.float64), np.cumsum(rows) - rows)
    return [*(sums / rows).tolist()]


PACKAGES = {
    "ir_measures": "ir-measures",
    "pyterrier": "python-terrier",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
}
"""Modules whose package has another name on PyPI."""


def require(module: str) -> ModuleType:
    """Return a module of another library, such as `sklearn.metrics`, which is imported now.

    Raises:
        UsageError: The library is not installed, or its import fails.

    Examples:
        >>> require("json").dumps({"a": 1})
        '{"a": 1}'
        >>> require("no_such_library")
        Traceback (most recent call last):
        rankscope.errors.UsageError: this needs no_such_library, which is not installed
        <BLANKLINE>
        Hint: run `pip install no_such_library`
    """
    library = module.partition(".")[0]
    package = PACKAGES.get(library, library)
    try:
        return import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            problem = f"this needs {package}, which is not installed"
            hint = f"run `pip install {package}`"
            raise UsageError(problem, hint=hint, code="missing_library") from error
        problem = f"{package} is installed, but importing {module} fails: {error}"
        hint = f"run `pip install --upgrade {package}`, or the command that the message names"
        raise UsageError(problem, hint=hint, code="broken_library") from error
