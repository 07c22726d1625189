"""Slices sorted by what they add to the difference from the baseline, confirmed causes first."""

from __future__ import annotations

from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankscope.output.table import Cell

RANKER = frozenset({"model", "version"})


def rank_slices(table: Table, causes: Iterable[Mapping[str, str]]) -> Table:
    """Return a table of slices with their contributions, the confirmed ones first.

    A slice adds its share of the rankings times its difference from the baseline. A small slice
    with a large difference therefore doesn't stand above what made the mean fall. A contribution is
    confirmed if the slice is the cause of an incident, as a trace has found it.

    Examples:
        >>> table = Table(
        ...     {
        ...         "slice": ["app=beta", "device=tv", "device=phone"],
        ...         "value": [0.4, 0.6, 0.8],
        ...         "rankings": [10, 200, 800],
        ...         "baseline": [0.7, 0.8, 0.8],
        ...         "difference": [-0.3, -0.2, 0.0],
        ...     }
        ... )
        >>> found = rank_slices(table, [{"device": "tv", "version": "4"}])
        >>> found.column("slice")
        ('device=tv', 'app=beta', 'device=phone')
        >>> [round(each, 3) for each in found.column("contribution")]
        [-0.04, -0.003, 0.0]
        >>> found.column("is_confirmed")
        (1, 0, 0)
    """
    confirmed = {_name(cause) for cause in causes} - {frozenset()}
    names = list(table.names)
    at = {name: place for place, name in enumerate(names)}
    rows = [tuple(row) for row in table.rows()]
    whole = _count_rankings(rows, at)
    made: list[tuple[Cell, ...]] = []
    for row in rows:
        difference, rankings = row[at["difference"]], row[at["rankings"]]
        contribution = (
            float(difference) * float(rankings) / whole
            if isinstance(difference, float | int) and isinstance(rankings, float | int)
            else None
        )
        is_confirmed = int(frozenset(str(row[at["slice"]]).split(", ")) in confirmed)
        made.append((*row, contribution, is_confirmed))

    def key(row: tuple[Cell, ...]) -> tuple[bool, bool, float, str]:
        amount = row[-2]
        known = float(amount) if isinstance(amount, float | int) else 0.0
        return not row[-1], amount is None, known, str(row[at["slice"]])

    made.sort(key=key)
    names += ["contribution", "is_confirmed"]
    return Table({name: [row[place] for row in made] for place, name in enumerate(names)})


def _name(cause: Mapping[str, str]) -> frozenset[str]:
    return frozenset(f"{name}={text}" for name, text in cause.items() if name not in RANKER)


def _count_rankings(rows: Iterable[tuple[Cell, ...]], at: Mapping[str, int]) -> float:
    """Return the number of all rankings: that of the attribute whose values have most."""
    counts: dict[str, float] = {}
    for row in rows:
        name, rankings = str(row[at["slice"]]), row[at["rankings"]]
        if ", " not in name and isinstance(rankings, float | int):
            attribute = name.partition("=")[0]
            counts[attribute] = counts.get(attribute, 0.0) + rankings
    return max(counts.values(), default=1.0) or 1.0
