"""Discounts in comparison, with their errors relative to the table of attention."""

from __future__ import annotations

import math

from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures.domains import Value
    from rankscope.output.table import Cell

CLOSE = 1e-12
"""The tolerance for weights that are equal except for rounding."""


@record(frozen=True, slots=True)
class Discrepancy:
    """The error of a discount relative to the table of attention.

    Args:
        rmse: The root mean square error.
        largest: The error with the largest absolute value, positive if the discount is above the
            table.
        rank: The rank of the largest error.
        ranks: The number of ranks that are compared: those that both the table and the discount
            have.
    """

    rmse: float
    largest: float
    rank: int
    ranks: int


@record(frozen=True, slots=True)
class Curve:
    """A discount.

    Args:
        name: The name, such as `log2` or `zipf(s=0.5)`.
        settings: The parameters of a measure with this discount: `nDCG(**curve.settings)`.
        first: The weight of rank 1.
        weights: The weight of each rank, divided by that of rank 1.
        error: The error relative to the table of attention.
    """

    name: str
    settings: Mapping[str, Value]
    first: float
    weights: tuple[float, ...]
    error: Discrepancy


class Discounts(Printed, Table):
    """A table with the weight of each rank under each discount.

    Weights are relative to rank 1, and NaN after the end of a table of weights. The column
    `attention` is a table from textbooks, which only has a few ranks.

    Examples:
        >>> import rankscope as rs
        >>> found = rs.tabulate_discounts(4)
        >>> found.to_dict()["3"]["log2"]
        0.5
        >>> found.closest.name
        'reciprocal'
    """

    def __init__(self, ranks: int, curves: Sequence[Curve], attention: Mapping[int, float]) -> None:
        every = range(1, ranks + 1)
        columns: dict[str, Sequence[Cell]] = {
            "rank": every,
            "attention": [attention.get(rank, math.nan) for rank in every],
        }
        for curve in curves:
            missing = [math.nan] * (ranks - len(curve.weights))
            columns[curve.name] = [*curve.weights[:ranks], *missing]
        super().__init__(columns)
        self._curves = tuple(curves)
        self._attention = dict(attention)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The discounts, with their weights."""
        return self._curves

    @property
    def attention(self) -> dict[int, float]:
        """The table of attention: the weight of each rank relative to rank 1."""
        return dict(self._attention)

    @property
    def errors(self) -> Table:
        """A table with the error of each discount relative to attention, smallest first."""
        ordered = sorted(self._curves, key=lambda curve: (-curve.error.ranks, curve.error.rmse))
        return Table(
            {
                "discount": [curve.name for curve in ordered],
                "weight of rank 1": [curve.first for curve in ordered],
                "rmse": [curve.error.rmse for curve in ordered],
                "largest": [curve.error.largest for curve in ordered],
                "at rank": [curve.error.rank for curve in ordered],
                "ranks": [curve.error.ranks for curve in ordered],
            }
        )

    @property
    def closest(self) -> Curve:
        """The discount closest to the table of attention, among those that have all its ranks."""
        most = max(curve.error.ranks for curve in self._curves)
        complete = [curve for curve in self._curves if curve.error.ranks == most]
        return min(complete, key=lambda curve: curve.error.rmse)

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """The groups of discounts that only differ by a constant factor, which nDCG cancels."""
        groups: list[list[Curve]] = []
        for curve in self._curves:
            for group in groups:
                if _are_alike(group[0], curve):
                    group.append(curve)
                    break
            else:
                groups.append([curve])
        return tuple(tuple(curve.name for curve in group) for group in groups if len(group) > 1)

    def _parts(self) -> list[str | Table]:
        ranks = ", ".join(map(str, self._attention))
        weights: dict[str, list[Cell]] = {
            name: [None if cell != cell else cell for cell in self.column(name)]  # noqa: PLR0124 - NaN alone differs
            for name in self.names
        }
        return [
            "weight of each rank, relative to rank 1",
            "",
            Table(weights),
            "",
            f"error against attention, over ranks {ranks}",
            "",
            self.errors,
            "",
            *_remarks(self),
        ]

    __repr__ = Printed.__str__


def _are_alike(one: Curve, other: Curve) -> bool:
    return len(one.weights) == len(other.weights) and all(
        math.isclose(mine, theirs, rel_tol=CLOSE)
        for mine, theirs in zip(one.weights, other.weights, strict=True)
    )


def _remarks(discounts: Discounts) -> list[str]:
    closest = discounts.closest.name
    is_log2 = closest == "log2" or any({closest, "log2"} <= set(names) for names in discounts.alike)
    return [
        f"closest to attention: {closest}{'' if is_log2 else ', not log2'}",
        *(
            f"same nDCG (equal up to a constant factor): {', '.join(names)}"
            for names in discounts.alike
        ),
    ]
