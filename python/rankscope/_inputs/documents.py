"""The documents of one query: a mapping of document to number, or ids alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from rankscope._inputs.recognition import is_single_column
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal


def open_documents(
    given: Any,  # noqa: ANN401 - what a caller has
    is_judged: bool,
    place: str,
) -> tuple[Literal["mapping", "pairs", "ids"], object]:
    """Find out what stands for the documents of a query."""
    if _is_column(given):
        return _open_series(given, is_judged, place)
    if all(hasattr(given, name) for name in ("keys", "items")) and not hasattr(given, "columns"):
        return "mapping", given
    if isinstance(given, AbstractSet):
        if not is_judged:
            raise _refuse(given, is_judged, place, "a set has no order: pass a list, best first")
        # The order of a set differs between processes, and errors name the first mistake.
        return "ids", sorted(given, key=lambda each: (type(each).__name__, repr(each)))
    return _open_list(_list(given, is_judged, place))


def has_documents(given: object) -> bool:
    """Check whether a value can stand for the documents of a query, as no number does."""
    if isinstance(given, str | bytes | bytearray | memoryview):
        return False
    is_list = isinstance(given, Mapping | AbstractSet | Sequence)
    return is_list or getattr(given, "ndim", 0) == 1 or is_single_column(given)


def _open_list(
    listed: list[Any],
) -> tuple[Literal["mapping", "pairs", "ids"], list[Any]]:
    are_pairs = bool(listed) and all(
        isinstance(each, tuple | list) and len(each) == 2 for each in listed
    )
    return ("pairs", list(map(tuple, listed))) if are_pairs else ("ids", listed)


def _list(given: Any, is_judged: bool, place: str) -> list[Any]:  # noqa: ANN401 - as above
    """Convert ordered ids of any library to a list."""
    if isinstance(given, str | bytes | bytearray | memoryview):
        raise _refuse(given, is_judged, place, f"write [{given!r:.40}] for a single document")
    if hasattr(given, "__next__"):
        raise _refuse(
            given, is_judged, place, "it can be read only once: make it a list with list(…)"
        )
    if isinstance(given, list | tuple):
        return list(given)
    if hasattr(given, "columns") or getattr(given, "ndim", 1) != 1:
        raise _refuse(given, is_judged, place)
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(given, name):
            return list(getattr(given, name)())
    if hasattr(given, "numpy"):  # a tensor of TensorFlow
        return list(given.numpy().tolist())
    if not hasattr(given, "__iter__"):
        hint = "write [] for a query without documents" if given is None else ""
        raise _refuse(given, is_judged, place, hint)
    return list(given)


def _is_column(given: object) -> bool:
    """Check whether an object is a column of pandas, which has values and an index of them."""
    kind = type(given)
    return kind.__module__.partition(".")[0] == "pandas" and hasattr(kind, "reset_index")


def _open_series(
    given: Any,  # noqa: ANN401 - of pandas
    is_judged: bool,
    place: str,
) -> tuple[Literal["mapping", "pairs", "ids"], object]:
    """Find out whether a column has ids, or numbers whose index has the ids.

    A column that was cut out of a frame has the numbers of the frame's rows as its index. They are
    no ids, but look like some.
    """
    if hasattr(given, "columns"):
        raise _refuse(given, is_judged, place)
    values, index = given.tolist(), given.index
    if not all(isinstance(value, int | float) for value in values):
        return _open_list(values)
    if not values or index.name is not None or any(isinstance(key, str) for key in index):
        return "mapping", given
    number = "grade" if is_judged else "score"
    raise _refuse(
        given,
        is_judged,
        place,
        f"numbers can be ids or {number}s: write .tolist() for a list of ids, or "
        f".set_axis(ids) and .to_dict() for a {number} per document",
    )


def _refuse(given: object, is_judged: bool, place: str, hint: str = "") -> FormatError:
    number, wanted = ("grade", "ids") if is_judged else ("score", "ids in rank order")
    return FormatError(
        f"expected a mapping of document to {number}, or a list of {wanted}, "
        f"found {type(given).__name__}",
        hint=hint or f"write {{'d1': 2, 'd2': 1}}, or ['d1', 'd2'] for {wanted}",
        code="not_a_mapping",
        file=place,
    )
