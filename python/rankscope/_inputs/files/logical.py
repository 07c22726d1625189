"""The logical size of columns: their bytes once dictionaries and runs are decoded."""

from __future__ import annotations

from rankscope._core import RATIO_FROM
from rankscope._inputs.arrow import load_arrow
from rankscope.errors import LimitError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WIDTH = 8
"""The bytes of a number, of the place of a text, or of a null."""

MOST_FROM_ONE_BYTE = 1000
AT_ONCE = 64 << 20
"""A batch with more logical bytes is cut."""


@record(frozen=True, slots=True)
class Allowance:
    """The limit on the logical size of one file.

    Args:
        name: What messages call the file.
        stored: The bytes of the file.
    """

    name: str
    stored: int

    @property
    def most(self) -> int:
        """Return the limit in logical bytes."""
        return max(RATIO_FROM, MOST_FROM_ONE_BYTE * self.stored)

    def check(self, logical: int, rows: int) -> None:
        """Raise an error for a file with more logical bytes."""
        if logical > self.most:
            raise LimitError(
                f"expected at most {MOST_FROM_ONE_BYTE} bytes from one stored byte, "
                f"found {rows} rows with {logical} bytes in {self.stored} bytes",
                hint="if you trust the file, write it again without dictionaries and compression",
                code="decompressed_bytes",
                file=self.name,
            )


def measure(column: Any) -> int:  # noqa: ANN401 - PyArrow has no types
    """Count the logical bytes of an Arrow array."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    types, kind = arrow.types, column.type
    size = WIDTH * len(column)
    if isinstance(kind, arrow.BaseExtensionType):
        return measure(column.storage)
    if types.is_dictionary(kind):
        lengths = _lengths_of(column.dictionary)
        return size if lengths is None else size + _sum(lengths.take(column.indices))
    if types.is_run_end_encoded(kind):
        lengths = _lengths_of(column.values)
        if lengths is None:
            return size
        # Run ends of a slice count from the start of the whole array.
        whole = arrow.RunEndEncodedArray.from_arrays(column.run_ends, lengths)
        return size + _sum(compute.run_end_decode(whole.slice(column.offset, len(column))))
    if types.is_map(kind):
        return size + measure(column.keys) + measure(column.items)
    if types.is_struct(kind):
        return size + sum(measure(part) for part in column.flatten())
    if hasattr(column, "flatten"):  # lists of every kind
        return size + measure(column.flatten())
    lengths = _lengths_of(column)
    return size if lengths is None else size + _sum(lengths)


def _lengths_of(values: Any) -> Any:  # noqa: ANN401 - as above
    """Return the bytes of each text as 64-bit integers, `None` if the values aren't text."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    kind = values.type
    if arrow.types.is_dictionary(kind):
        lengths = _lengths_of(values.dictionary)
        return None if lengths is None else lengths.take(values.indices)
    if arrow.types.is_string_view(kind) or arrow.types.is_binary_view(kind):
        values = values.cast(arrow.large_binary())
    forms = ("string", "large_string", "binary", "large_binary")
    if not any(getattr(arrow.types, f"is_{form}")(values.type) for form in forms):
        return None
    return compute.binary_length(values).cast(arrow.int64())


def _sum(lengths: Any) -> int:  # noqa: ANN401 - as above
    return load_arrow("pyarrow.compute").sum(lengths).as_py() or 0


def cut(batch: Any, logical: int) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - as above
    """Split a batch into slices of about `AT_ONCE` logical bytes, each with its first row."""
    rows = batch.num_rows
    step = max(1, rows if logical <= AT_ONCE else rows * AT_ONCE // logical)
    for start in range(0, rows, step):
        yield start, batch.slice(start, step)
