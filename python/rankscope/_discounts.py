"""What each rank is worth under the discounts of the field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._drawing import ThemeName
from rankscope._evaluate.settings import Settings
from rankscope._show import Printed
from rankscope._show.table import Cell, Table
from rankscope.errors import UsageError
from rankscope.measures import DCG
from rankscope.measures.domains import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CLOSE = 1e-12
"""The tolerance for weights that are equal except for rounding."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    `attention` is a table from textbooks, which only has a few ranks. `plot` draws the weights.

    Examples:
        >>> from rankscope.measures import tabulate_discounts
        >>> discounts = tabulate_discounts(4)
        >>> discounts.to_dict()["3"]["log2"]
        0.5
        >>> discounts.closest.name
        'reciprocal'
    """

    def __init__(self, ranks: int, curves: Sequence[Curve], attention: Mapping[int, float]) -> None:
        columns: dict[str, Sequence[Cell]] = {
            "rank": range(1, ranks + 1),
            "attention": [attention.get(rank, math.nan) for rank in range(1, ranks + 1)],
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
        return min(self._curves, key=lambda curve: (-curve.error.ranks, curve.error.rmse))

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """The groups of discounts that only differ by a constant factor, which nDCG cancels."""
        groups: list[list[Curve]] = []
        for curve in self._curves:
            group = next((of for of in groups if _are_alike(of[0], curve)), None)
            if group is None:
                groups.append([curve])
            else:
                group.append(curve)
        return tuple(tuple(curve.name for curve in group) for group in groups if len(group) > 1)

    def plot(self, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
        """Draw the weight of each rank; see `rankscope.plots.draw_discounts`."""
        from rankscope.plots import draw_discounts

        return draw_discounts(self, ax=ax, theme=theme)

    def _parts(self) -> list[str | Table]:
        ranks = ", ".join(map(str, self._attention))
        weights: dict[str, list[Cell]] = {
            name: [None if cell != cell else cell for cell in self.column(name)]  # noqa: PLR0124 - NaN alone differs
            for name in self.names
        }
        head = "weight of each rank, relative to rank 1"
        errors = f"error against attention, over ranks {ranks}"
        return [head, "", Table(weights), "", errors, "", self.errors, "", *self._remarks()]

    def _remarks(self) -> list[str]:
        closest, alike = self.closest.name, self.alike
        is_log2 = closest == "log2" or any({closest, "log2"} <= set(names) for names in alike)
        names = [", ".join(group) for group in alike]
        return [
            f"closest to attention: {closest}{'' if is_log2 else ', not log2'}",
            *(f"same nDCG (equal up to a constant factor): {name}" for name in names),
        ]

    __repr__ = Printed.__str__


def _are_alike(one: Curve, other: Curve) -> bool:
    return len(one.weights) == len(other.weights) and all(
        math.isclose(weight, other_weight, rel_tol=CLOSE)
        for weight, other_weight in zip(one.weights, other.weights, strict=True)
    )


MOST_RANKS = 10_000
POWERS = (0.5,)
RESERVED = ("rank", "attention")
ATTENTION = {1: 1.0, 2: 0.6, 3: 0.4, 4: 0.3, 10: 0.1}
"""The share of the readers of rank 1 who look at a rank, in round figures."""


def tabulate_discounts(
    ranks: int = 10,
    *,
    bases: Sequence[float] | None = None,
    powers: Sequence[float] = POWERS,
    tables: Mapping[str, Sequence[float]] | None = None,
) -> Discounts:
    """Return the weight of each rank under every discount, relative to rank 1.

    Each discount is compared with the attention table of textbooks: of the users who look at rank
    1, 60% look at rank 2, 40% at rank 3, 30% at rank 4 and 10% at rank 10.

    Args:
        ranks: The number of ranks, from 1 to 10,000.
        bases: The bases of the discounts `log` (default: e) and `jk` (default: 2).
        powers: The powers of the discount `zipf`.
        tables: Named lists of weights, best rank first.

    Raises:
        UsageError: A base, a power or a table is invalid, or two discounts have the same name.

    Examples:
        >>> print(tabulate_discounts(bases=[10], powers=[0.85]).errors)
        discount      weight of rank 1    rmse  largest  at rank  ranks
        zipf(s=0.85)            1.0000  0.0278  -0.0452        2      5
        reciprocal              1.0000  0.0582  -0.1000        2      5
        linear                  0.5000  0.0789   0.1000        3      5
        log2                    1.0000  0.1129   0.1891       10      5
        log(base=10)            3.3219  0.1129   0.1891       10      5
        jk(base=10)             1.0000  0.6033   0.9000       10      5
    """
    discounts = _name_discounts(bases, powers, tables or {})
    if ranks not in range(1, MOST_RANKS + 1):
        raise UsageError(
            f"expected ranks from 1 to {MOST_RANKS:,}, found {ranks!r}",
            hint="10 is the default",
            code="bad_parameter",
        )
    curves = [_draw(name, settings, ranks) for name, settings in discounts.items()]
    return Discounts(ranks, curves, ATTENTION)


def _name_discounts(
    bases: Sequence[float] | None, powers: Sequence[float], tables: Mapping[str, Sequence[float]]
) -> dict[str, Mapping[str, Value]]:
    """List the parameters of a measure with each discount, by the name of the discount."""
    listed: list[tuple[str, dict[str, object]]] = [("log2", {"discount": "log2"})]
    for kind, usual in (("log", math.e), ("jk", 2.0)):
        for base in [usual] if bases is None else bases:
            shown = "e" if base == math.e else f"{base:g}"
            listed.append((f"{kind}(base={shown})", {"discount": kind, "base": base}))
    listed += [("reciprocal", {"discount": "reciprocal"}), ("linear", {"discount": "linear"})]
    listed += [(f"zipf(s={power:g})", {"discount": "zipf", "s": power}) for power in powers]
    listed += [(name, {"discount": tuple(weights)}) for name, weights in tables.items()]
    discounts: dict[str, Mapping[str, Value]] = {}
    for name, settings in listed:
        if name in discounts or name in RESERVED:
            raise UsageError(
                f"expected discounts with names of their own, found {name!r} again",
                hint="leave one out, or call it something else",
                code="same_name",
            )
        parameters = DCG(**settings).parameters
        discounts[name] = {setting: parameters[setting] for setting in settings}
    return discounts


def _draw(name: str, settings: Mapping[str, Value], ranks: int) -> Curve:
    discount, depth = settings["discount"], max(ranks, *ATTENTION)
    if isinstance(discount, tuple):
        depth = min(depth, len(discount))
    request = Settings(measures=DCG(**settings) @ depth).request(grades=[0.0, 1.0])
    # Of DCG there always are some.
    weights = request.plan("input").discounted(0, [1.0] * depth, [*range(1, depth + 1)]) or []
    if weights[0] <= 0:
        raise UsageError(
            f"{name}: expected a weight above 0 for rank 1, found {weights[0]}",
            hint="weights are shown relative to rank 1",
            code="bad_parameter",
        )
    relative = tuple(weight / weights[0] for weight in weights)
    return Curve(name, settings, weights[0], relative, _compare_with_attention(relative))


def _compare_with_attention(weights: Sequence[float]) -> Discrepancy:
    """Return the distance of weights from the attention table, over the ranks of both."""
    ranks = [rank for rank in ATTENTION if rank <= len(weights)]
    errors = {rank: weights[rank - 1] - ATTENTION[rank] for rank in ranks}
    # Errors that are one but for rounding are so here; the first counts.
    worst = max(ranks, key=lambda rank: round(abs(errors[rank]), 12))
    mean_square = math.fsum(error * error for error in errors.values()) / len(ranks)
    return Discrepancy(math.sqrt(mean_square), errors[worst], worst, len(ranks))
