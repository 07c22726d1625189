"""Finds columns of pandas that have the same index in different orders."""

from __future__ import annotations

import sys

from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_alignment(**values: object) -> None:
    """Check that the pandas objects among values have their rows in one order.

    Columns are read by position. If only one of two columns of a frame was sorted, they have the
    same labels in different orders, and a row would get the grade or the query of another.
    Objects with other labels, such as a Series with a new index, are read by position.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    given = {
        name: value
        for name, value in values.items()
        if isinstance(value, pandas.Series | pandas.DataFrame)
    }
    (first, leader), *others = [*given.items()] or [("", None)]
    for name, value in others:
        both_wide = leader.ndim == value.ndim == 2
        for axis in ("index", "columns") if both_wide else ("index",):
            if _differ_in_order(getattr(leader, axis), getattr(value, axis)):
                raise FormatError(
                    f"expected {first} and {name} with the same {axis}, found the same labels in "
                    "different orders",
                    hint=f"bring them into one order, such as {name}.loc[{first}.index]; if the "
                    f"order is right and the labels are wrong, pass {name}.to_numpy()"
                    if axis == "index"
                    else f"bring them into one order: {name}[{first}.columns]",
                    code="index_order",
                    file=name,
                )


def check_weights(weights: object, y_true: object, groups: object) -> None:
    """Check that weights of queries in a pandas Series are in the order of the queries."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(weights, pandas.Series):
        return
    if groups is None:
        check_alignment(y_true=y_true, sample_weight=weights)
    elif isinstance(groups, pandas.Series) and _differ_in_order(
        pandas.Index(groups.unique()), weights.index
    ):
        raise FormatError(
            "expected weights in the order in which the groups first appear, found the index of "
            "sample_weight in another order",
            hint="bring them into that order: sample_weight.loc[groups.unique()]",
            code="index_order",
            file="sample_weight",
        )


def _differ_in_order(one: Any, other: Any) -> bool:  # noqa: ANN401 - pandas is not always there
    """Check whether two indexes have the same labels in different orders."""
    if len(one) != len(other) or one.equals(other):
        return False
    return bool(one.isin(other).all() and other.isin(one).all())
