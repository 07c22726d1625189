"""A comparison of runs under several discounts."""

from __future__ import annotations

from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.output.diagnostics import Diagnostic

    Values = Mapping[str, Mapping[str, float]]
    Order = tuple[tuple[str, ...], ...]


@record(frozen=True, slots=True)
class Exchange:
    """Two runs whose order changes with the discount.

    Args:
        discount: The discount.
        better: The run that is better under this discount, and worse under the first discount.
        worse: The other run.
        gap: The difference in nDCG.
        former: The same difference under the first discount, which is negative.
    """

    discount: str
    better: str
    worse: str
    gap: float
    former: float


@record(frozen=True, slots=True)
class Disagreement:
    """A discount under which nDCG and DCG disagree on the best run.

    Args:
        discount: The discount.
        by_ndcg: The best run by nDCG, or several with the same value.
        by_dcg: The best run by DCG, or several with the same value.
    """

    discount: str
    by_ndcg: tuple[str, ...]
    by_dcg: tuple[str, ...]


class DiscountComparison(Printed, Table):
    """A table with the nDCG of each run under each discount.

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
        """The measure, such as `nDCG@10`."""
        return self._names[0]

    @property
    def dcg(self) -> Table:
        """A table with the DCG of each run under each discount."""
        return self._dcg

    @property
    def orders(self) -> dict[str, Order]:
        """The runs in descending order of nDCG under each discount; equal ones are grouped."""
        return dict(self._orders)

    @property
    def tau(self) -> Table:
        """Kendall's tau-b between the orders by nDCG under each pair of discounts."""
        return Table(
            {"discount": [*self._tau], **{name: [*row.values()] for name, row in self._tau.items()}}
        )

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The pairs of runs whose order by nDCG differs from that under the first discount."""
        return self._exchanges

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The discounts under which nDCG and DCG disagree on the best run."""
        return self._disagreements

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes about judgments and runs that are valid but look wrong."""
        return self._notes

    def _parts(self) -> list[str | Table]:
        ndcg = Table(self.columns)
        tables: list[str | Table] = [self._names[0], "", ndcg, "", self._names[1], "", self._dcg]
        if len(self) == 1:
            return tables
        first = next(iter(self._orders))
        return [
            *tables,
            "",
            f"order by {self._names[0]}",
            "",
            *_write_orders(self._orders),
            "",
            f"Kendall's tau with the order under {first}",
            "",
            *_align({name: f"{value:7.4f}" for name, value in self._tau[first].items()}),
            "",
            *_write_exchanges(self._exchanges, first),
            *_write_disagreements(self._disagreements),
        ]

    __repr__ = Printed.__str__


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
        return ["the order of the runs never changes"]
    return [
        f"{each.discount}: {each.better} is ahead of {each.worse} by {each.gap:.4f}; "
        f"under {first} it is behind by {-each.former:.4f}"
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
