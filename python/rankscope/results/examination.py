"""An examination curve: how often each rank is looked at, as far as clicks tell."""

from __future__ import annotations

from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.results.table import Cell

ASSUMPTION = (
    "assumes that a click needs a look and a document worth it, that documents are as good at one "
    "rank as at another, and that only the rank decides the look"
)


class ExaminationCurve(Table):
    """How often each rank is looked at, relative to rank 1: one row a rank.

    Columns: `impressions` and `clicks` are counts; `effective` is how many impressions of one
    weight the weighted ones are worth, (sum of weights)^2 / (sum of squares); `rate` is the
    click-through rate with its interval; `weight` is that rate divided by that of rank 1, with its
    interval in `lower` and `upper`.

    `weights` is a discount: `nDCG(discount=curve.weights) @ len(curve)`.

    Examples:
        >>> import rankscope as rs
        >>> log = {"rank": [1, 1, 2, 2, 2, 2], "click": [1, 1, 1, 0, 1, 0]}
        >>> curve = rs.estimate_examination(log)
        >>> curve.weights
        (1.0, 0.5)
        >>> rs.ndcg([0, 1], discount=curve.weights, k=2)
        0.5
    """

    def __init__(
        self, columns: Mapping[str, Sequence[Cell]], level: float, *, is_weighted: bool
    ) -> None:
        super().__init__(columns)
        self._level = level
        self._is_weighted = is_weighted

    @property
    def level(self) -> float:
        """The probability with which the intervals cover."""
        return self._level

    @property
    def is_weighted(self) -> bool:
        """Whether impressions were weighted by their inverse propensities."""
        return self._is_weighted

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks, from 1 on."""
        return tuple(range(1, len(self) + 1))

    @property
    def weights(self) -> tuple[float, ...]:
        """How often each rank is looked at, relative to rank 1."""
        return self._numbers("weight")

    @property
    def lower(self) -> tuple[float, ...]:
        """The lower end of the interval of each weight."""
        return self._numbers("lower")

    @property
    def upper(self) -> tuple[float, ...]:
        """The upper end of the interval of each weight."""
        return self._numbers("upper")

    @property
    def differs(self) -> tuple[int, ...]:
        """The ranks whose interval leaves out 1, so that they differ from rank 1."""
        ends = zip(self.ranks, self.lower, self.upper, strict=True)
        return tuple(rank for rank, lower, upper in ends if not lower <= 1 <= upper)

    def _numbers(self, name: str) -> tuple[float, ...]:
        found: tuple[Any, ...] = self.column(name)
        return found

    def __str__(self) -> str:
        weighted = ", weighted by inverse propensity" if self._is_weighted else ""
        differ = ", ".join(map(str, self.differs))
        return "\n".join(
            [
                f"click-through rate by rank{weighted}; intervals of {self._level:g}",
                "",
                super().__str__(),
                "",
                f"ranks that differ from rank 1: {differ or 'none that these clicks can tell'}",
                ASSUMPTION,
            ]
        )

    __repr__ = __str__
