"""Contexts, read again when rankings have a new one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.monitor.store.records import Context
    from rankscope.monitor.store.store import StoreReader


class Contexts(dict[int, "Context"]):
    """The contexts of a project by number.

    Rankings are read in other moments than this: what is new by then is looked up when it is met.

    Args:
        store: Where they are.
        project: The name of the project.
    """

    def __init__(self, store: StoreReader, project: str) -> None:
        super().__init__(store.contexts(project))
        self._store = store
        self._project = project

    def __missing__(self, number: int) -> Context:
        self.update(self._store.contexts(self._project))
        if number not in self:
            raise KeyError(number)
        return self[number]


def find_contexts(
    contexts: Mapping[int, Context], environment: str, model: str | None, version: str | None
) -> dict[int, Context]:
    """Find the contexts of an environment, a model and a version; `None` stands for any."""
    return {
        number: context
        for number, context in contexts.items()
        if context.environment == environment
        and (model is None or context.model == model)
        and (version is None or context.version == version)
    }
