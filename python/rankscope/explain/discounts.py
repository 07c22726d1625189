"""Every discount, side by side."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.explain.attention import ATTENTION, compare_with_attention
from rankscope.explain.weights import MOST_RANKS, weigh_ranks
from rankscope.measures import DCG
from rankscope.results.discounts import Curve, Discounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures.domains import Value

    Settings = Mapping[str, Value]

RESERVED = ("rank", "attention", "run", "discount")


def name_discounts(
    bases: Sequence[float] | None,
    powers: Sequence[float],
    tables: Mapping[str, Sequence[float]],
) -> dict[str, Settings]:
    """List the discounts by name, each as what a measure is given for it.

    Args:
        bases: The bases of `log` and `jk`; where left out, e for `log` and 2 for `jk`.
        powers: The powers of `zipf`.
        tables: Weights by rank, by name.

    Raises:
        UsageError: Two have one name, or a name is taken.
        MeasureError: A base, a power or a table is none.
    """
    found: list[tuple[str, dict[str, object]]] = [("log2", {"discount": "log2"})]
    for kind, usual in (("log", math.e), ("jk", 2.0)):
        for base in [usual] if bases is None else bases:
            shown = "e" if base == math.e else f"{base:g}"
            found.append((f"{kind}(base={shown})", {"discount": kind, "base": base}))
    found += [("reciprocal", {"discount": "reciprocal"}), ("linear", {"discount": "linear"})]
    found += [(f"zipf(s={power:g})", {"discount": "zipf", "s": power}) for power in powers]
    found += [(name, {"discount": tuple(weights)}) for name, weights in tables.items()]
    named: dict[str, Settings] = {}
    for name, settings in found:
        if name in named or name in RESERVED:
            raise UsageError(
                f"expected discounts with names of their own, found {name!r} again",
                hint="leave one out, or call it something else",
                code="same_name",
            )
        read = DCG(**settings).parameters
        named[name] = {setting: read[setting] for setting in settings}
    return named


def tabulate(ranks: int, discounts: Mapping[str, Settings]) -> Discounts:
    """Weigh the first ranks by each discount, and compare it with the table of attention.

    Args:
        ranks: How many ranks.
        discounts: The discounts by name.

    Raises:
        UsageError: There are too few or too many ranks, or a table gives rank 1 no weight.
    """
    if ranks not in range(1, MOST_RANKS + 1):
        raise UsageError(
            f"expected ranks from 1 to {MOST_RANKS:,}, found {ranks!r}",
            hint="10 is the default",
            code="bad_parameter",
        )
    curves = [_draw(name, settings, ranks) for name, settings in discounts.items()]
    return Discounts(ranks, curves, ATTENTION)


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
    return Curve(name, settings, weights[0], relative, compare_with_attention(relative))
