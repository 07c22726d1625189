"""Names of labels and attributes of stored events that don't match the configuration."""

from __future__ import annotations

from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.mismatch import PRODUCTION, NameCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.events.mismatch import Mismatch
    from rankscope.monitor.store.store import StoreReader


def find_mismatches(
    store: StoreReader, project: str, configuration: Configuration, since: int, until: int
) -> tuple[Mismatch, ...]:
    """Compare the names in the rankings of a span, and in their labels, with the configuration."""
    names = NameCounts()
    contexts = store.contexts(project)
    for _, number, count in store.count_by_hour(project, since, until):
        context = contexts.get(number)
        if context is not None and context.environment == PRODUCTION:
            names.add_rankings((name for name, _ in context.attributes), count)
    window = configuration.definition.window * SECOND
    for row in store.count_labels(project, since, until, window=window):
        names.add_labels(row.labels, row.number)
    hours = store.hours(project, configuration.digest, since, until)
    unshown = sum(hour.unshown for hour in hours)
    names.add_placed(max(names.named, unshown), unshown)
    return names.compare(configuration.expected)
