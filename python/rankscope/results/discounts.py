"""Discounts side by side: a weight a rank, and how far each is from the table of attention."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures.domains import Value
    from rankscope.results.table import Cell

CLOSE = 1e-12
"""How near weights are that are the same but for rounding."""


@record(frozen=True, slots=True)
class Discrepancy:
    """How far a discount is from the table of attention.

    Args:
        rmse: The root of the mean square of the errors.
        largest: The error that is largest without its sign; above 0 where the discount gives the
            rank more weight than the table.
        rank: The rank at which that is.
        ranks: Over how many ranks of the table, which are those that the discount has.
    """

    rmse: float
    largest: float
    rank: int
    ranks: int


@record(frozen=True, slots=True)
class Curve:
    """A discount.

    Args:
        name: What it is called, such as `log2` or `zipf(s=0.5)`.
        settings: What a measure is given for it: `nDCG(**curve.settings)`.
        first: The weight of rank 1.
        weights: The weight of each rank, divided by that of rank 1.
        error: How far it is from the table of attention.
    """

    name: str
    settings: Mapping[str, Value]
    first: float
    weights: tuple[float, ...]
    error: Discrepancy


class Discounts(Table):
    """Discounts side by side: one row a rank, one column a discount.

    Weights are relative to rank 1; where a table of weights ends, there is NaN. The column
    `attention` is the table of the textbooks, which has a few ranks only.

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
        """The discounts, each with as many weights as it has been asked for or has."""
        return self._curves

    @property
    def attention(self) -> dict[int, float]:
        """The table of attention: by rank, a share of rank 1."""
        return dict(self._attention)

    @property
    def errors(self) -> Table:
        """How far each discount is from the table of attention, the closest first."""
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
        """The discount closest to the table of attention, of those that have all its ranks."""
        most = max(curve.error.ranks for curve in self._curves)
        complete = [curve for curve in self._curves if curve.error.ranks == most]
        return min(complete, key=lambda curve: curve.error.rmse)

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """The names of discounts that are one but for a constant factor, which nDCG cancels."""
        groups: list[list[Curve]] = []
        for curve in self._curves:
            for group in groups:
                if _are_alike(group[0], curve):
                    group.append(curve)
                    break
            else:
                groups.append([curve])
        return tuple(tuple(curve.name for curve in group) for group in groups if len(group) > 1)

    def __str__(self) -> str:
        ranks = ", ".join(map(str, self._attention))
        return "\n".join(
            [
                "weight of each rank, relative to rank 1",
                "",
                *_without_nan(super().__str__()),
                "",
                f"error against attention, over ranks {ranks}",
                "",
                str(self.errors),
                "",
                *_remarks(self),
            ]
        )

    __repr__ = __str__


def _without_nan(table: str) -> list[str]:
    """Show a weight that there is not as a dash."""
    head, *body = table.split("\n")
    return [head, *(line.replace("nan", "  –") for line in body)]


def _are_alike(one: Curve, other: Curve) -> bool:
    return len(one.weights) == len(other.weights) and all(
        math.isclose(mine, theirs, rel_tol=CLOSE)
        for mine, theirs in zip(one.weights, other.weights, strict=True)
    )


def _remarks(found: Discounts) -> list[str]:
    closest = found.closest.name
    is_log2 = closest == "log2" or any({closest, "log2"} <= set(names) for names in found.alike)
    return [
        f"closest to attention: {closest}{'' if is_log2 else ', not log2'}",
        *(f"one but for a factor, so of one nDCG: {', '.join(names)}" for names in found.alike),
    ]
