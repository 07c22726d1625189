"""Slices: rankings by the values of their attributes, the rare values together as `<other>`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rankscope.monitor.plain import Stored
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import Context

Slice: TypeAlias = tuple[tuple[str, str], ...]

MISSING = "<missing>"
MOST = 50


@dataclass(frozen=True, slots=True)
class Slicing(Stored):
    """The attributes and values that have slices.

    Args:
        values: By attribute, the values that have a slice of their own.
        pairs: The pairs of attributes whose values have slices together.
        folded: By attribute, how many other values are in `<other>`.
    """

    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    folded: tuple[tuple[str, int], ...] = ()

    def dimensions(self) -> tuple[tuple[str, ...], ...]:
        """List the attributes that make slices together: none, each one, and the pairs."""
        return ((), *((name,) for name, _ in self.values), *self.pairs)

    def place(self, contexts: Iterable[Context], attribute: str) -> list[str]:
        """Return the slice of an attribute that the rankings of each context belong to.

        Examples:
            >>> from rankscope.monitor.store.records import Context
            >>> slicing = Slicing((("device", ("tv",)),))
            >>> phone = Context("m", "4", "production", (("device", "phone"),))
            >>> slicing.place([phone, Context("m", "4", "production", ())], "device")
            ['<other>', '<missing>']
        """
        kept = set(dict(self.values)[attribute])
        found = (dict(context.attributes).get(attribute) for context in contexts)
        return [MISSING if value is None else value if value in kept else OTHER for value in found]


def extend_slicing(slicing: Slicing, contexts: Mapping[int, Context], most: int) -> Slicing:
    """Add slices for new values, as long as there is room.

    What has a slice keeps it, so that windows that were summed before stay right. Values beyond are
    counted, and are `<other>`.

    Examples:
        >>> from rankscope.monitor.store.records import Context
        >>> said = [(("device", name),) for name in ("tv", "phone", "car")]
        >>> contexts = {at: Context("m", "4", "production", one) for at, one in enumerate(said)}
        >>> extend_slicing(Slicing((("device", ("tv",)),)), contexts, most=2)
        Slicing(values=(('device', ('phone', 'tv')),), pairs=(), folded=(('device', 1),))
    """
    values, folded = [], []
    for name, kept in slicing.values:
        found = (dict(contexts[number].attributes).get(name) for number in sorted(contexts))
        seen = dict.fromkeys([*kept, *(value for value in found if value is not None)])
        room = max(most, len(kept))
        values.append((name, tuple(sorted([*seen][:room]))))
        folded.append((name, len([*seen][room:])))
    return Slicing(tuple(values), slicing.pairs, tuple(folded))
