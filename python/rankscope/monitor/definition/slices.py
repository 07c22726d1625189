"""Slices: rankings by their attributes, each value of few, the rest as one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from rankscope.errors import UsageError
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import TypeAlias

    from rankscope.monitor.store.records import Chunk, Context

    Slice: TypeAlias = tuple[tuple[str, str], ...]

MISSING = "<missing>"
MOST = 50


@record(frozen=True, slots=True)
class Slicing:
    """By which attributes and values rankings are put into slices.

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
        """Give the value of an attribute under which rankings with something in common are sliced.

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


def choose_slices(
    chunks: Iterable[Chunk],
    contexts: Mapping[int, Context],
    attributes: Collection[str],
    *,
    pairs: Collection[tuple[str, str]] | None = None,
    most: int = MOST,
) -> Slicing:
    """Choose the values that most rankings have; of two alike, the first by name.

    Args:
        chunks: The rankings.
        contexts: What they have in common.
        attributes: The attributes.
        pairs: Pairs of them; all pairs if left out.
        most: How many values of an attribute have a slice of their own.

    Raises:
        UsageError: An attribute of a pair is not one of the attributes, or `most` is below 1.
    """
    names = tuple(dict.fromkeys(attributes))
    chosen = tuple(combinations(names, 2)) if pairs is None else tuple(dict.fromkeys(pairs))
    unknown = {name for pair in chosen for name in pair} - set(names)
    if unknown or most < 1 or any(one == other for one, other in chosen):
        raise UsageError(
            f"expected pairs of two of {', '.join(names) or 'no attributes'}, and 1 value or more; "
            f"found {chosen} and {most}",
            hint="name the attributes of pairs among the attributes, too",
            code="bad_slices",
        )
    rankings: Counter[int] = Counter()
    for chunk in chunks:
        rankings.update(chunk.contexts.tolist())
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for number, count in rankings.items():
        for name, value in contexts[number].attributes:
            if name in counts:
                counts[name][value] += count
    values, folded = [], []
    for name, by_value in counts.items():
        ordered = sorted(by_value.items(), key=lambda pair: (-pair[1], pair[0]))
        values.append((name, tuple(sorted(value for value, _ in ordered[:most]))))
        folded.append((name, len(ordered[most:])))
    return Slicing(tuple(values), chosen, tuple(folded))


def extend_slicing(slicing: Slicing, contexts: Mapping[int, Context], most: int) -> Slicing:
    """Give values that are new a slice of their own, as long as there is room.

    What has a slice keeps it, so that windows that were summed before stay right. Values beyond are
    counted, and are `<other>`.

    Args:
        slicing: The slices there are.
        contexts: What rankings have in common, by number, in the order in which it came.
        most: How many values of an attribute have a slice of their own.

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
