"""What is known of items besides judgments, to evaluate recommendations."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rankscope._core import Items as CoreItems
    from rankscope.measures.spec import Need


@record(frozen=True, slots=True)
class Items:
    """What is known of items, from `read_items`, to pass to `evaluate`.

    Args:
        known: The history, the attributes and the catalogue in the core.
        given: What was passed to `read_items`.
        attributes: What the attributes are: `"vectors"` of numbers, or `"categories"`; empty if
            there are none.
    """

    known: CoreItems
    given: frozenset[Need]
    attributes: Literal["", "vectors", "categories"] = ""

    def __repr__(self) -> str:
        return f"Items({', '.join(sorted(self.given))}; {self.known.offered()} items)"
