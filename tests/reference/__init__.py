"""The reference implementation of all measures, slow and readable.

The tests check that the core computes the same values, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType

from tests.reference import (
    agreement,
    auc,
    binary,
    cascade,
    count,
    cwl,
    diversity,
    expected_exposure,
    experimental,
    exposure,
    gain,
    items,
    judged,
    loss,
    sampled,
    sets,
)
from tests.reference.order import Retrieved as Retrieved
from tests.reference.order import mean as mean
from tests.reference.order import rank as rank
from tests.reference.query import NO_SUBTOPICS, NOTHING_KNOWN
from tests.reference.query import Known as Known
from tests.reference.query import Query as Query

FAMILIES = (
    gain,
    loss,
    binary,
    experimental,
    sets,
    judged,
    sampled,
    cascade,
    cwl,
    expected_exposure,
    agreement,
    diversity,
    auc,
    items,
    exposure,
    count,
)


def _find_kernels(family: ModuleType) -> dict[str, Callable[..., float]]:
    """Return the kernels of a module: its functions of a query whose parameters have names only."""
    return {
        name: function
        for name, function in vars(family).items()
        if isinstance(function, FunctionType)
        and function.__module__ == family.__name__
        and not name.startswith("_")
        and function.__code__.co_varnames[: function.__code__.co_argcount] == ("query",)
    }


KERNELS: dict[str, Callable[..., float]] = {}
"""Every kernel by its name, which is that of its function."""

for _family in FAMILIES:
    KERNELS |= _find_kernels(_family)


def value(
    kernel: str,
    params: Mapping[str, object],
    ranking: Sequence[float | None],
    judged: Sequence[float],
    *,
    negative: str = "nonrelevant",
    judged_only: bool = False,
    documents: Sequence[str] = (),
    subtopics: Mapping[str, Mapping[str, float]] = NO_SUBTOPICS,
    user: str = "",
    known: Known = NOTHING_KNOWN,
) -> float:
    """Return the value of a measure for one query, as in `Query`; NaN if it is undefined."""
    query = Query(ranking, judged, negative == "gain", documents, subtopics, user, known)
    return KERNELS[kernel](query.condensed() if judged_only else query, **params)
