"""What is known of items besides judgments, to evaluate recommendations."""

from __future__ import annotations

from rankscope._core import Items as CoreItems
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope._core import Judgments
    from rankscope._inputs.columns import IdColumn
    from rankscope.output.diagnostics import Diagnostic

    Described: TypeAlias = (
        tuple[IdColumn, int, NDArray[np.float64]]
        | tuple[IdColumn, NDArray[np.int64], NDArray[np.int64]]
    )
    """Items with the size and the numbers of their vectors, or the ends and codes of categories."""
    Parts: TypeAlias = tuple[IdColumn | None, Judgments | None, Described | None]
    """The catalogue, the history, and the items that are described."""


@record(frozen=True, slots=True)
class Items:
    """What is known of items, from `read_items`, to pass to `evaluate`.

    Args:
        known: The history, the attributes and the catalogue in the core.
        parts: What the core was given.
        given: What was passed to `read_items`.
        notes: What was suspicious but legal in the attributes.
        attributes: What the attributes are: `"vectors"` of numbers, or `"categories"`; empty if
            there are none.
    """

    known: CoreItems
    parts: Parts
    given: frozenset[str]
    notes: tuple[Diagnostic, ...] = ()
    attributes: Literal["", "vectors", "categories"] = ""

    def __repr__(self) -> str:
        return f"Items({', '.join(sorted(self.given))}; {self.known.offered()} items)"

    def __reduce__(self) -> tuple[object, ...]:
        return make_items, (self.parts, self.given, self.notes)


def make_items(parts: Parts, given: frozenset[str], notes: tuple[Diagnostic, ...] = ()) -> Items:
    """Bring the parts together in the core."""
    known = CoreItems(*parts)
    has_categories = known.has_categories()
    attributes: Literal["", "vectors", "categories"] = ""
    if has_categories is not None:
        attributes = "categories" if has_categories else "vectors"
    return Items(known, parts, given, notes, attributes)
