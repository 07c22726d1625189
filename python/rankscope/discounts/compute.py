"""The weights of ranks under every discount."""

from __future__ import annotations

import math

from rankscope.derivation.derive.kernels import MOST_RANKS, weigh_ranks
from rankscope.discounts.result import Curve, Discounts, Discrepancy
from rankscope.errors import UsageError
from rankscope.measures import DCG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures.domains import Value

    Settings = Mapping[str, Value]

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
    bases: Sequence[float] | None,
    powers: Sequence[float],
    tables: Mapping[str, Sequence[float]],
) -> dict[str, Settings]:
    """List the discounts by name, each as what a measure is given for it."""
    listed: list[tuple[str, dict[str, object]]] = [("log2", {"discount": "log2"})]
    for kind, usual in (("log", math.e), ("jk", 2.0)):
        for base in [usual] if bases is None else bases:
            shown = "e" if base == math.e else f"{base:g}"
            listed.append((f"{kind}(base={shown})", {"discount": kind, "base": base}))
    listed += [("reciprocal", {"discount": "reciprocal"}), ("linear", {"discount": "linear"})]
    listed += [(f"zipf(s={power:g})", {"discount": "zipf", "s": power}) for power in powers]
    listed += [(name, {"discount": tuple(weights)}) for name, weights in tables.items()]
    named: dict[str, Settings] = {}
    for name, settings in listed:
        if name in named or name in RESERVED:
            raise UsageError(
                f"expected discounts with names of their own, found {name!r} again",
                hint="leave one out, or call it something else",
                code="same_name",
            )
        read = DCG(**settings).parameters
        named[name] = {setting: read[setting] for setting in settings}
    return named


def _draw(name: str, settings: Settings, ranks: int) -> Curve:
    discount = settings["discount"]
    depth = max(ranks, *ATTENTION)
    weights = weigh_ranks(
        DCG(**settings), min(depth, len(discount)) if isinstance(discount, tuple) else depth
    )
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
