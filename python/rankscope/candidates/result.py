"""Values over a whole catalogue, estimated from ranks among sampled candidates."""

from __future__ import annotations

from rankscope.evaluation.evaluation import find_mean
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues

FIELDS = ("among_sampled", "value", "lower", "upper")


@record(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """The mean of a measure over all items, estimated from sampled ranks.

    Args:
        measure: The measure.
        among_sampled: The mean among the sampled candidates, which isn't comparable with others.
        value: The estimated mean if all items were ranked.
        lower: The lower end of the interval of this mean over queries.
        upper: The upper end of the interval of this mean over queries.
    """

    measure: Measure
    among_sampled: float
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True, kw_only=True)
class CorrectedRanks(Printed, Tabular):
    """Means over a whole catalogue, estimated from sampled ranks; as a table, one row per measure.

    Args:
        means: The estimate for each measure.
        mean_rank: An unbiased estimate of the mean rank of the relevant item among all items.
        mean_rank_lower: The lower end of its interval.
        mean_rank_upper: The upper end of its interval.
        queries: The number of queries.
        sampled: The number of items that were sampled beside the relevant one.
        items: The number of all items.
        level: The confidence level of the intervals.
        tradeoff: The weight of the variance against the squared bias.
    """

    means: tuple[CorrectedMean, ...]
    mean_rank: float
    mean_rank_lower: float
    mean_rank_upper: float
    queries: int
    sampled: int
    items: int
    level: float
    tradeoff: float

    def __getitem__(self, measure: Measure | str) -> CorrectedMean:
        return find_mean(self.means, measure)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measures": {
                mean.measure.name: {name: getattr(mean, name) for name in FIELDS}
                for mean in self.means
            },
            "mean_rank": {
                "value": self.mean_rank,
                "lower": self.mean_rank_lower,
                "upper": self.mean_rank_upper,
            },
            "queries": self.queries,
            "sampled": self.sampled,
            "items": self.items,
            "level": self.level,
            "tradeoff": self.tradeoff,
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return {
            "measure": [mean.measure.name for mean in self.means],
            **{name: [getattr(mean, name) for mean in self.means] for name in FIELDS},
        }

    def _parts(self) -> list[str | Table]:
        names = ("measure", f"of {self.sampled + 1}", f"of {self.items}", "lower", "upper")
        columns = [[mean.measure.name for mean in self.means]]
        numbers = [[getattr(mean, name) for mean in self.means] for name in FIELDS]
        table = Table(dict(zip(names, [*columns, *numbers], strict=True)))
        rank = f"{self.mean_rank:.1f}, {self.mean_rank_lower:.1f} to {self.mean_rank_upper:.1f}"
        return [
            f"{self.queries} queries, {self.sampled} sampled items of {self.items}",
            "",
            table,
            "",
            f"mean rank among all items: {rank}",
            "Corrected values keep some bias: to decide between systems, rank all items.",
        ]

    __repr__ = Printed.__str__
