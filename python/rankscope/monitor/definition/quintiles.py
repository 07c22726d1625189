"""Computes the bins of numeric attributes from what was logged."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import QUINTILES
from rankscope.monitor.events.bins import find_quintiles, read_number
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import PRODUCTION
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.events.bins import Edges
    from rankscope.monitor.store.store import StoreReader

DAYS = 28
FEWEST = 100
"""So many rankings with a number are needed."""


def settle_bins(store: StoreReader, project: str, configuration: Configuration) -> Configuration:
    """Return a configuration in which all bins have edges.

    Those that are asked for as quintiles stay as they are stored, or are computed now.
    """
    if QUINTILES not in configuration.bins.values():
        return configuration
    known = store.bins(project)
    edges = {
        name: (known.get(name) or compute_edges(store, project, name))
        if given == QUINTILES
        else given
        for name, given in configuration.bins.items()
    }
    return replace(configuration, bins=edges)


def compute_edges(store: StoreReader, project: str, attribute: str) -> Edges:
    """Return the quintiles of an attribute in production, over 28 days up to the newest ranking.

    Raises:
        UsageError: There are fewer than 100 rankings with a number, or all numbers are the same.
    """
    counts: dict[float, int] = {}
    newest = store.find_newest_time(project)
    if newest is not None:
        until = newest - newest % HOUR + HOUR
        contexts = store.contexts(project)
        for _, number, count in store.count_by_hour(project, until - DAYS * DAY, until):
            context = contexts.get(number)
            if context is not None and context.environment == PRODUCTION:
                value = read_number(dict(context.attributes).get(attribute, ""))
                if value is not None:
                    counts[value] = counts.get(value, 0) + count
    total = sum(counts.values())
    edges = find_quintiles(counts) if total >= FEWEST else ()
    if edges:
        return edges
    expected, found = f"at least {FEWEST} rankings with a number", f"{total:,}"
    if total >= FEWEST:
        expected, found = "different numbers", f"only {next(iter(counts)):g}"
    raise UsageError(
        f"bins.{attribute}: expected {expected} in the last {DAYS} days to compute {QUINTILES} "
        f"from, found {found}",
        hint=f"log more rankings with {attribute} first, or write the edges yourself",
        code="bad_configuration",
    )
