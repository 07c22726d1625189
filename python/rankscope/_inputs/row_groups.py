"""The queries of rows in one column: an id for each row, the sizes of groups, or a single query."""

from __future__ import annotations

from rankscope._inputs.arrow import to_array
from rankscope._inputs.columns import read_ids, to_arrow
from rankscope._inputs.numbers import count_offsets, to_numbers
from rankscope.deferred import np
from rankscope.errors import FormatError, InputError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    GivenGroups: TypeAlias = ArrayLike | Literal["one"]

NAME = "groups"
EXAMPLE = "write groups=df['query'] with the query of each row, or groups='one' for a single query"


@record(frozen=True, slots=True, kw_only=True)
class RowGroups:
    """Rows in the order of their queries.

    Args:
        offsets: Rows of query q are those at `offsets[q]:offsets[q + 1]`.
        order: The rows, query by query; `None` if they already are.
    """

    offsets: NDArray[np.int64]
    order: NDArray[np.int64] | None

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column query by query."""
        return column if self.order is None else column[self.order]

    def find(self, at: int) -> int:
        """Return the row, as it was given, that is now in this place."""
        return at if self.order is None else int(self.order[at])

    def reverse(self) -> RowGroups:
        """Return the same queries with the last row of each first."""
        sizes = np.diff(self.offsets)
        places = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, sizes)
        places -= np.arange(len(places))
        return RowGroups(
            offsets=self.offsets, order=places if self.order is None else self.order[places]
        )


def read_row_groups(groups: GivenGroups, rows: int) -> RowGroups:
    """Read which query each row belongs to.

    As many entries as rows are ids, and anything else must be sizes that add up to the rows. Where
    both readings are possible, such as `[1, 1, 1]` for three rows, the caller has to decide.
    """
    if isinstance(groups, str):
        if groups != "one":
            raise UsageError(
                f"expected a column, sizes, or 'one' as groups, found the text {groups!r:.120}",
                hint=EXAMPLE,
                code="bad_parameter",
            )
        return RowGroups(offsets=np.array([0, rows], dtype=np.int64), order=None)
    shape = getattr(groups, "shape", (0,))
    if len(shape) != 1:
        raise FormatError(
            f"expected groups as one column, found shape {tuple(shape)}",
            hint="several columns of pandas become one by df.groupby(['user', 'day']).ngroup()",
            code="array_shape",
            file=NAME,
        )
    sizes = _read_sizes(groups)
    are_sizes = sizes is not None and int(sizes.sum()) == rows
    if sizes is not None and len(sizes) != rows:
        if not are_sizes:
            raise _mismatch(f"{len(sizes)} numbers that add up to {int(sizes.sum())}", rows)
        return RowGroups(offsets=count_offsets(sizes), order=None)
    if are_sizes and rows > 1:
        raise UsageError(
            f"expected groups as ids or as sizes, found {rows} whole numbers that could be either: "
            "they are as many as the rows, and add up to as many",
            hint="pass ids as text: groups=list(map(str, ids)); if they are sizes, turn them into "
            "ids: groups=np.repeat([f'q{n}' for n in range(len(sizes))], sizes)",
            code="ambiguous_groups",
        )
    codes = _number_ids(groups)
    if len(codes) != rows:
        raise _mismatch(f"groups of length {len(codes)}", rows)
    return _gather(codes)


def _read_sizes(groups: GivenGroups) -> NDArray[np.int64] | None:
    """Return whole numbers of 0 or more, `None` if that's not what they are."""
    try:
        numbers = to_numbers(groups, NAME, dimensions=(1,))
    except InputError:
        return None
    is_size = (numbers >= 0) & (numbers <= 2**53) & (numbers == np.floor(numbers))
    return numbers.astype(np.int64) if is_size.all() else None


def _number_ids(ids: Any) -> NDArray[np.int64]:  # noqa: ANN401 - a column of any library
    """Return integers that are equal where ids are."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "OU" and ids.ndim == 1:
        ids = ids.tolist()
    if isinstance(ids, list | tuple) and all(isinstance(each, str) for each in ids):
        numbers: dict[str, int] = {}  # and no Arrow, which may not be installed
        return np.array([numbers.setdefault(each, len(numbers)) for each in ids], dtype=np.int64)
    try:
        column = read_ids(ids, NAME)
    except InputError as error:
        error.file = NAME
        raise
    if isinstance(column, np.ndarray):
        return column
    return np.asarray(to_array(to_arrow(column).dictionary_encode().indices), dtype=np.int64)


def _gather(codes: NDArray[np.int64]) -> RowGroups:
    """Bring the rows of each query together, queries in the order of their first rows."""
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = codes[1:] != codes[:-1]
    starts = np.flatnonzero(is_first)
    if len(np.unique(codes[starts])) == len(starts):
        return RowGroups(offsets=np.append(starts, len(codes)), order=None)
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    queries = place[numbers.reshape(-1)]
    sizes = np.bincount(queries).astype(np.int64)
    return RowGroups(offsets=count_offsets(sizes), order=np.argsort(queries, kind="stable"))


def _mismatch(found: str, rows: int) -> FormatError:
    return FormatError(
        f"expected an id for each of {rows} rows, or sizes that add up to {rows}, found {found}",
        hint=EXAMPLE,
        code="length_mismatch",
        file=NAME,
    )
