"""An examination curve: how often users look at each rank, estimated from clicks."""

from __future__ import annotations

from rankscope.output.printed import Printed
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.output.table import Cell

ASSUMPTION = (
    "assumes that users click the relevant documents they look at, that documents are equally "
    "good at every rank, and that only the rank determines whether users look"
)
HARVESTED = (
    "assumes that users click the relevant documents they look at, that chance decides at which of "
    "its ranks a document is shown, and that only the rank determines whether users look"
)


class ExaminationCurve(Printed, Table):
    """A table that shows how often users look at each rank, relative to rank 1.

    The columns `impressions` and `clicks` are counts. `effective` is the effective sample size of
    weighted impressions, (sum of weights)^2 / (sum of squares). `rate` is the click-through rate
    with its interval. `weight` is the rate divided by that of rank 1, with its interval in `lower`
    and `upper`. The ends are NaN where the log is too small for an interval; `refused` says why.

    You can use `weights` as a discount: `nDCG(discount=curve.weights) @ len(curve)`.

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
        self,
        columns: Mapping[str, Sequence[Cell]],
        level: float,
        *,
        is_weighted: bool,
        refused: tuple[str, ...] = (),
        clusters: int | None = None,
        method: str = "rates",
    ) -> None:
        super().__init__(columns)
        self._level = level
        self._is_weighted = is_weighted
        self._refused = refused
        self._clusters = clusters
        self._method = method

    @property
    def level(self) -> float:
        """The confidence level of the intervals."""
        return self._level

    @property
    def is_weighted(self) -> bool:
        """Whether impressions were weighted by their inverse propensities."""
        return self._is_weighted

    @property
    def method(self) -> str:
        """How the curve was estimated, one of: `"rates"`, `"harvest"`."""
        return self._method

    @property
    def clusters(self) -> int | None:
        """The number of clusters; `None` if impressions are independent."""
        return self._clusters

    @property
    def refused(self) -> dict[int, str]:
        """Why a rank has no interval, by rank."""
        return {rank: why for rank, why in zip(self.ranks, self._refused, strict=False) if why}

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks, starting at 1."""
        return tuple(range(1, len(self) + 1))

    @property
    def weights(self) -> tuple[float, ...]:
        """How often users look at each rank, relative to rank 1."""
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
        """The ranks whose interval doesn't include 1, so they differ from rank 1."""
        ends = zip(self.ranks, self.lower, self.upper, strict=True)
        return tuple(rank for rank, lower, upper in ends if lower > 1 or upper < 1)

    def _numbers(self, name: str) -> tuple[float, ...]:
        found: tuple[Any, ...] = self.column(name)
        return found

    def _parts(self) -> list[str | Table]:
        weighted = ", weighted by inverse propensity" if self._is_weighted else ""
        differ = ", ".join(map(str, self.differs))
        over = "" if self._clusters is None else f" over {self._clusters:,} clusters"
        what = "examination by rank, from documents shown at several ranks"
        if self._method == "rates":
            what = f"click-through rate by rank{weighted}"
        reasons: dict[str, list[str]] = {}
        for rank, why in self.refused.items():
            reasons.setdefault(why, []).append(str(rank))
        return [
            f"{what}, with {100 * self._level:g}% intervals{over}",
            "",
            Table(self.columns),
            "",
            f"ranks that differ significantly from rank 1: {differ or 'none'}",
            *(f"no interval of rank {', '.join(ranks)}: {why}" for why, ranks in reasons.items()),
            ASSUMPTION if self._method == "rates" else HARVESTED,
        ]

    __repr__ = Printed.__str__
