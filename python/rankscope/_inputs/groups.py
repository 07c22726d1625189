"""The queries of rows in one column: an id for each row, the sizes of groups, or a single query."""

from __future__ import annotations

from contextlib import suppress

from rankscope._inputs.doubles import refuse
from rankscope._inputs.numbers import count_offsets, to_numbers
from rankscope.deferred import np
from rankscope.errors import InputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from numpy.typing import ArrayLike

    from rankscope._inputs.doubles import Doubles, Offsets

    GroupsLike: TypeAlias = ArrayLike | Literal["one"]

EXAMPLE = "write groups=df['query'] with the query of each row, or groups='one' for a single query"
TELL_APART = (
    "pass ids as text: groups=list(map(str, ids)); if they are sizes, turn them into ids: "
    "groups=np.repeat([f'q{n}' for n in range(len(sizes))], sizes)"
)


def read_groups(groups: GroupsLike, rows: int) -> tuple[Offsets, Offsets | slice]:
    """Return the offsets of queries, and the order that brings the rows of each one together.

    As many entries as rows are ids, and anything else must be sizes that add up to the rows. Where
    both readings are possible, such as `[1, 1, 1]` for three rows, the caller has to decide.
    """
    if isinstance(groups, str):
        if groups != "one":
            message = f"expected a column, sizes or 'one' as groups, found the text {groups!r:.120}"
            raise UsageError(message, hint=EXAMPLE, code="bad_parameter")
        return np.array([0, rows], dtype=np.int64), slice(None)
    shape = tuple(getattr(groups, "shape", (0,)))
    if len(shape) != 1:
        message = f"expected groups as one column, such as ngroup() makes, found shape {shape}"
        raise refuse("array_shape", "groups", message, hint=EXAMPLE)
    sizes = None
    with suppress(InputError):
        sizes = read_sizes(groups, "groups")
    add_up = sizes is not None and sizes.sum() == rows
    if sizes is not None and len(sizes) != rows:
        if add_up:
            return count_offsets(sizes), slice(None)
        found = f"{len(sizes)} numbers that add up to {sizes.sum():.0f}"
    elif add_up and rows > 1:
        message = f"expected groups as ids or as sizes, found {rows} numbers that could be either"
        raise UsageError(message, hint=TELL_APART, code="ambiguous_groups")
    else:
        codes = _number_ids(groups)
        if len(codes) == rows:
            is_sorted = bool((codes[1:] >= codes[:-1]).all())
            order = slice(None) if is_sorted else np.argsort(codes, kind="stable")
            return count_offsets(np.bincount(codes)), order
        found = f"{len(codes)} ids"
    message = f"expected an id for each of {rows} rows, or sizes that add up to {rows}"
    raise refuse("length_mismatch", "groups", f"{message}, found {found}", hint=EXAMPLE)


def read_sizes(values: ArrayLike, name: str) -> Doubles:
    """Read whole numbers of 0 or more."""
    sizes = to_numbers(values, name, dimensions=(1,))
    is_size = (sizes >= 0) & (sizes < np.inf) & (sizes == np.floor(sizes))
    if not is_size.all():
        message = f"expected {name} as whole numbers, 0 or more, found {sizes[~is_size][0]}"
        raise refuse("group_sizes", name, message, [np.argmin(is_size)])
    return sizes


def _number_ids(ids: Any) -> Offsets:  # noqa: ANN401 - a column of any library
    """Number ids from 0, in the order in which they first appear."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "OU":
        ids = ids.tolist()
    if isinstance(ids, list | tuple) and all(type(one) is int for one in ids):
        ids = np.array(ids)
    if isinstance(ids, list | tuple) and all(isinstance(one, str) for one in ids):
        numbers: dict[str, int] = {}  # and no Arrow, which may not be installed
        return np.array([numbers.setdefault(one, len(numbers)) for one in ids], dtype=np.int64)
    column = ids
    if not (isinstance(ids, np.ndarray) and ids.dtype.kind in "iu" and not np.ma.isMA(ids)):
        from rankscope._inputs.arrow import to_array  # noqa: PLC0415 - other IDs need PyArrow
        from rankscope._inputs.columns import read_ids, to_arrow  # noqa: PLC0415 - as above

        try:
            column = read_ids(ids, "groups")
        except InputError as error:
            error.file = "groups"
            raise
        if isinstance(column, tuple):
            return to_array(to_arrow(column).dictionary_encode().indices).astype(np.int64)
    _, first, codes = np.unique(column, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]
