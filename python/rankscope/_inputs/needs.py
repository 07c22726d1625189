"""Reads what is known of items, and checks that measures have what they need."""

from __future__ import annotations

import sys

from rankscope.errors import FormatError, MeasureError, UsageError
from rankscope.measures.reading import read_measures
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from rankscope._inputs.items import Items
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.measures.spec import Need
    from rankscope.typing import HistoryLike

MEANINGS: dict[Need, str] = {
    "history": "the interactions of users with items before the recommendations",
    "items": "the attributes of items",
    "catalogue": "the items that can be recommended",
}
"""What each argument is, for messages."""


def are_items(value: object) -> TypeGuard[Items]:
    """Check whether a value is the result of `read_items`."""
    module = sys.modules.get("rankscope._inputs.items")
    return module is not None and isinstance(value, module.Items)


def load_items(
    *, history: HistoryLike | None, items: object, catalogue: object, reading: Reading
) -> Items:
    """Read what is known of items; `rankscope.read_items` documents the arguments."""
    from rankscope._inputs.items import (  # noqa: PLC0415 - loads late
        describe_items,
        make_items,
        read_catalogue,
        read_history,
    )

    named = {"history": history, "items": items, "catalogue": catalogue}
    given = frozenset(name for name in MEANINGS if named[name] is not None)
    described, notes = (None, ()) if items is None else describe_items(items, reading)
    parts = (
        None if catalogue is None else read_catalogue(catalogue, reading),
        None if history is None else read_history(history, reading),
        described,
    )
    found = make_items(parts, given, notes)
    if given and found.known.offered() == 0:
        raise FormatError(
            "expected at least one item that can be recommended, found none",
            hint="is the catalogue empty?",
            code="empty_input",
            file="catalogue" if catalogue is not None else None,
        )
    return found


def read_items_for(
    measures: Measures,
    *,
    history: HistoryLike | None,
    items: object,
    catalogue: object,
    reading: Reading | None = None,
) -> Items | None:
    """Read what measures need to know of items; `None` if none of them needs to know anything."""
    wanted = read_measures(measures)[0]
    if are_items(items):
        if history is not None or catalogue is not None:
            raise UsageError(
                "expected the result of read_items alone, found history or catalogue beside it",
                hint="pass them to read_items",
                code="bad_parameter",
            )
        return check_items(wanted, items)
    needing = [measure for measure in wanted if measure.row.of_items]
    if not needing:
        return None
    given: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    _check_given(needing, {name for name, value in given.items() if value is not None})
    return check_items(needing, load_items(**given, reading=reading or Reading.read()))


def check_items(measures: list[Measure], found: Items | None) -> Items | None:
    """Return what is known of items, nothing if no measure needs to know it."""
    if found is not None and not are_items(found):
        raise UsageError(
            f"expected items as read_items returns them, found {type(found).__name__}",
            hint="write items=read_items(history=…, items=…)",
            code="bad_parameter",
        )
    asked = [measure for measure in measures if measure.row.of_items]
    if not asked:
        return None
    from rankscope._inputs.items import make_items  # noqa: PLC0415 - loads late

    known = make_items((None, None, None), frozenset()) if found is None else found
    _check_given(asked, known.given)
    for measure in asked:
        if measure.row.categories and known.attributes == "vectors":
            raise MeasureError(
                f"{measure} needs the categories of items, found vectors of numbers",
                hint="pass items with categories, such as the genres of each",
                code="items_unavailable",
            )
        if "items" in measure.row.needs and _has_one_number(known) and not _is_by_size(measure):
            raise MeasureError(
                f"{measure} doesn't depend on the list if each item has a single number",
                hint="if the numbers are codes of categories, write them as text, such as c7",
                code="items_unavailable",
            )
    return known


def _has_one_number(known: Items) -> bool:
    described = known.parts[-1]
    return known.attributes == "vectors" and described is not None and described[1] == 1


def _is_by_size(measure: Measure) -> bool:
    """Check whether a measure sees the size of numbers, and not just their proportions."""
    return measure.parameters.get("distance") in {"hamming", "euclidean"}


def _check_given(measures: list[Measure], given: frozenset[str] | set[str]) -> None:
    for measure in measures:
        for need in measure.row.needs:
            # Without a catalogue, it is the items that are described, or those of the history.
            if need in given or (need == "catalogue" and given):
                continue
            raise MeasureError(
                f"{measure} needs {need}: {MEANINGS[need]}",
                hint=f"pass {need}=…, or --{need} FILE on the command line",
                code="items_unavailable",
            )
