"""The mix of an attribute over time: which share of the rankings has each of its values."""

from __future__ import annotations

from collections import Counter

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import read_length
from rankscope.monitor.definition.slices import MISSING, Slicing
from rankscope.monitor.evaluate.stored_windows import name_place, read_rankings
from rankscope.monitor.events.bins import name_bins
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.signals.kinds import REFERENCE_DAYS, digest
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.ask.series import Every
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import CellRow
    from rankscope.monitor.store.store import StoreReader

MOST = 6
"""At most so many values have a share of their own; the last one of more is all others together."""


@record(frozen=True, slots=True, kw_only=True)
class Mix:
    """The share of the rankings that has each value of an attribute, over time.

    Args:
        attribute: The attribute.
        every: The length of the windows.
        values: At most 6 values: bins of numbers in their order, others by how often they are
            shown. `<missing>` stands for rankings without the attribute, `<other>` for all further
            values together.
        times: When the windows begin, in UTC, ascending.
        shares: For each value, its share in each window; together they are 1.
        usual: For each value, its share over the 7 days before the day of each window, of all
            versions of the model; NaN where there were no rankings.
        rankings: How many rankings each window has.
    """

    attribute: str
    every: Every
    values: tuple[str, ...]
    times: tuple[datetime, ...]
    shares: tuple[tuple[float, ...], ...]
    usual: tuple[tuple[float, ...], ...]
    rankings: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it; a missing share is `None`."""
        said = write_record(self)
        return {"starts" if name == "times" else name: value for name, value in said.items()}


def read_mix(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    attribute: str,
    *,
    every: Every,
    since: int | None,
    until: int | None,
    model: str | None,
    version: str | None,
) -> Mix:
    """Return the mix of an attribute from the windows of signals."""
    if attribute not in configuration.attributes:
        raise UsageError(
            f"the project isn't sliced by the attribute {attribute[:100]!a}",
            hint=f"its attributes are {', '.join(configuration.attributes) or 'none'}",
            code="unknown_slice",
        )
    length = read_length(every)
    key = digest(configuration)
    progress = store.progress(project, key)
    known = () if progress is None else dict(Slicing.from_json(progress.slicing).values)[attribute]
    names = {name_place(((attribute, value),)): value for value in (*known, MISSING, OTHER)}
    early = None if since is None else since - since % DAY - REFERENCE_DAYS * DAY
    daily = store.cells(project, key, early, until, length=DAY, slices=[*names])
    shown = (
        daily
        if length == DAY
        else store.cells(project, key, since, until, length=length, slices=[*names])
    )
    counts = {
        start: of
        for start, of in _count(shown, names, model, version).items()
        if since is None or start >= since
    }
    before = _count(daily, names, model, None)
    total = sum(counts.values(), Counter())
    values = _choose(total, name_bins(configuration.edges.get(attribute, ())))
    starts = sorted(counts)
    usual = [_add_days(before, start - start % DAY) for start in starts]
    return Mix(
        attribute=attribute,
        every=every,
        values=values,
        times=tuple(map(to_datetime, starts)),
        shares=_share(values, [counts[start] for start in starts]),
        usual=_share(values, usual),
        rankings=tuple(counts[start].total() for start in starts),
    )


def _count(
    rows: Iterable[CellRow], names: Mapping[str, str], model: str | None, version: str | None
) -> dict[int, Counter[str]]:
    """Count the rankings in production of each value by the start of windows."""
    counts: dict[int, Counter[str]] = {}
    for row in rows:
        is_meant = model in {None, row.model} and version in {None, row.version}
        if row.environment == "production" and is_meant:
            counts.setdefault(row.start, Counter())[names[row.slice]] += read_rankings(row)
    return counts


def _add_days(counts: Mapping[int, Counter[str]], day: int) -> Counter[str]:
    """Add up the counts of the days before a day."""
    ago = range(1, REFERENCE_DAYS + 1)
    return sum((counts.get(day - days * DAY, Counter()) for days in ago), Counter())


def _choose(total: Counter[str], bins: Sequence[str]) -> tuple[str, ...]:
    """Return the values that have shares of their own, in order.

    Examples:
        >>> _choose(Counter({"tv": 1, "<missing>": 5, "phone": 2}), ())
        ('phone', 'tv', '<missing>')
        >>> _choose(Counter({"2 or more": 3, "below 2": 1}), ("below 2", "2 or more"))
        ('below 2', '2 or more')
        >>> _choose(Counter({"a": 9, "b": 8, "c": 7, "d": 6, "e": 5, "f": 4, "g": 3}), ())
        ('a', 'b', 'c', 'd', 'e', '<other>')
    """
    by_count = sorted(total, key=lambda value: (-total[value], value))
    kept = [value for value in by_count if value != OTHER]
    has_others = len(kept) > MOST or len(kept) < len(by_count)
    kept = kept[: MOST - 1] if has_others else kept

    def place(value: str) -> tuple[bool, int]:
        return value == MISSING, bins.index(value) if value in bins else len(bins)

    return (*sorted(kept, key=place), *([OTHER] if has_others else []))


def _share(values: Sequence[str], counts: Sequence[Counter[str]]) -> tuple[tuple[float, ...], ...]:
    """Return the share of each value in each window; all values without one are `<other>`."""
    shares = []
    for value in values:
        counted = [
            sum(count for each, count in of.items() if each not in values or each == OTHER)
            if value == OTHER
            else of[value]
            for of in counts
        ]
        shares.append(
            tuple(
                count / of.total() if of else float("nan")
                for count, of in zip(counted, counts, strict=True)
            )
        )
    return tuple(shares)
