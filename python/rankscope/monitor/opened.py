"""A project of a store: what it is called, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from rankscope.monitor.definition.configuration import Configuration, find_configuration
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.store.store import StoreReader


class OpenedProject:
    """A project of a store.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        clock: Returns the current time as the store counts it (default: the clock of the system).
        threads: The number of threads (default: all cores).
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        *,
        clock: Callable[[], int] = read_clock,
        threads: int | None = None,
    ) -> None:
        self.store = store
        self.project = project
        self.clock = clock
        self._threads = threads

    @property
    def is_configured(self) -> bool:
        """Whether the project has a configuration."""
        return self.store.configuration(self.project) is not None

    @cached_property
    def configuration(self) -> Configuration:
        """The configuration of the project.

        Raises:
            UsageError: The project has none yet.
        """
        return find_configuration(self.store, self.project)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(measure.name for measure in self.configuration.definition.measures)
