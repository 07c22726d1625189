"""Names of labels and attributes of stored events that don't match the configuration."""

from __future__ import annotations

from rankscope.monitor.evaluate.stored_windows import count_labels
from rankscope.monitor.events.mismatch import PRODUCTION, NameCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.events.mismatch import Mismatch
    from rankscope.monitor.store.records import HourRow
    from rankscope.monitor.store.store import StoreReader


def find_mismatches(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int,
    until: int,
    *,
    hours: Sequence[HourRow],
) -> tuple[Mismatch, ...]:
    """Compare the names in the rankings of a span, and in their labels, with the configuration.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        since: The first time of a ranking.
        until: The time before which rankings are.
        hours: What is stored of the hours of the span.
    """
    names = NameCounts()
    contexts = store.contexts(project)
    for _, number, count in store.count_by_hour(project, since, until):
        context = contexts.get(number)
        if context is not None and context.environment == PRODUCTION:
            names.add_rankings((name for name, _ in context.attributes), count)
    for kind, number in count_labels(hours).items():
        names.add_labels(kind.labels, number)
    unshown = sum(hour.unshown for hour in hours)
    names.add_placed(max(names.named, unshown), unshown)
    return names.compare(configuration.expected)
