"""Runs under every discount: their values, their orders, and where these differ."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.data.diagnostics import Diagnostic

    Values = Mapping[str, Mapping[str, float]]
    Order = tuple[tuple[str, ...], ...]


@record(frozen=True, slots=True)
class Exchange:
    """Two runs that change places when the discount is another one.

    Args:
        discount: The discount.
        better: The run that is the better under it, and the worse under the first discount.
        worse: The other.
        gap: How much better, by nDCG.
        former: The same difference under the first discount, which is below 0.
    """

    discount: str
    better: str
    worse: str
    gap: float
    former: float


@record(frozen=True, slots=True)
class Disagreement:
    """A discount under which nDCG and DCG do not have the same best run.

    Args:
        discount: The discount.
        by_ndcg: The best run by nDCG, or several of one value.
        by_dcg: The best by DCG.
    """

    discount: str
    by_ndcg: tuple[str, ...]
    by_dcg: tuple[str, ...]


class DiscountComparison(Table):
    """nDCG of runs under every discount: one row a run, one column a discount.

    `str` prints the tables, the orders, the pairs of runs that change places, and where nDCG and
    DCG disagree on the best run.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
        >>> one = {"q1": {"x": 3, "y": 2, "a": 1}, "q2": {"x": 3, "a": 2}}
        >>> other = {"q1": {"a": 9, "b": 8}, "q2": {"x": 9, "y": 8, "z": 7, "v": 6, "a": 5}}
        >>> found = rs.compare_discounts(qrels, {"one": one, "other": other})
        >>> found.to_dict()["other"]["log2"]
        0.6934264036172708
        >>> found.orders["log2"]
        (('other',), ('one',))
        >>> found.exchanges
        ()
    """

    def __init__(
        self,
        names: tuple[str, str],
        ndcg: Values,
        dcg: Values,
        *,
        orders: Mapping[str, Order],
        tau: Values,
        exchanges: Sequence[Exchange],
        disagreements: Sequence[Disagreement],
        notes: Sequence[Diagnostic],
    ) -> None:
        super().__init__(_by_run(ndcg))
        self._names = names
        self._dcg = Table(_by_run(dcg))
        self._orders = dict(orders)
        self._tau = tau
        self._exchanges = tuple(exchanges)
        self._disagreements = tuple(disagreements)
        self._notes = tuple(notes)

    @property
    def measure(self) -> str:
        """The measure that is compared, such as `nDCG@10`."""
        return self._names[0]

    @property
    def dcg(self) -> Table:
        """DCG of the same: one row a run, one column a discount."""
        return self._dcg

    @property
    def orders(self) -> dict[str, Order]:
        """By discount, the runs by nDCG, the best first; those of one value are together."""
        return dict(self._orders)

    @property
    def tau(self) -> Table:
        """Kendall's tau-b between the orders under any two discounts, by nDCG."""
        return Table(
            {"discount": [*self._tau], **{name: [*row.values()] for name, row in self._tau.items()}}
        )

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The pairs of runs that are in another order than under the first discount, by nDCG."""
        return self._exchanges

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The discounts under which nDCG and DCG do not have the same best run."""
        return self._disagreements

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What was suspicious but legal in the judgments and the runs."""
        return self._notes

    def __str__(self) -> str:
        tables = [self._names[0], "", super().__str__(), "", self._names[1], "", str(self._dcg)]
        if len(self) == 1:
            return "\n".join(tables)
        first = next(iter(self._orders))
        return "\n".join(
            [
                *tables,
                "",
                f"order by {self._names[0]}",
                "",
                *_write_orders(self._orders),
                "",
                f"Kendall's tau of that order and the one under {first}",
                "",
                *_align({name: f"{value:7.4f}" for name, value in self._tau[first].items()}),
                "",
                *_write_exchanges(self._exchanges, first),
                *_write_disagreements(self._disagreements),
            ]
        )

    __repr__ = __str__


def _by_run(values: Values) -> dict[str, Sequence[str | float]]:
    columns: dict[str, Sequence[str | float]] = {"run": [*next(iter(values.values()))]}
    return columns | {name: [*of.values()] for name, of in values.items()}


def _align(texts: Mapping[str, str]) -> list[str]:
    width = max(map(len, texts))
    return [f"{name:{width}}  {text}" for name, text in texts.items()]


def _write_orders(orders: Mapping[str, Order]) -> list[str]:
    texts = {name: " > ".join(" = ".join(alike) for alike in of) for name, of in orders.items()}
    if len({*texts.values()}) == 1:
        return [f"under every discount: {next(iter(texts.values()))}"]
    return _align(texts)


def _write_exchanges(exchanges: Sequence[Exchange], first: str) -> list[str]:
    if not exchanges:
        return ["no two runs change places"]
    return [
        f"{each.discount}: {each.better} above {each.worse}, by {each.gap:.4f}; "
        f"below it under {first}, by {-each.former:.4f}"
        for each in exchanges
    ]


def _write_disagreements(disagreements: Sequence[Disagreement]) -> list[str]:
    if not disagreements:
        return ["nDCG and DCG agree on the best run"]
    return [
        f"{each.discount}: the best run is {' = '.join(each.by_ndcg)} by nDCG, "
        f"{' = '.join(each.by_dcg)} by DCG"
        for each in disagreements
    ]
