"""Tables that a library yields batch by batch: DuckDB relations, lazy frames, datasets, readers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._inputs.arrow import check_batch
from rankscope._inputs.columnar import (
    BATCH,
    choose_fields,
    names_of,
    regroup,
    rows_of_batch,
)
from rankscope._inputs.files import first_line
from rankscope.deferred import pa
from rankscope.errors import FormatError, OutOfMemoryError, RankscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from rankscope._inputs.roles import Wanted
    from rankscope._inputs.text import Lines

    T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batches:
    """A table of another library, to read batch by batch.

    Args:
        schema: Its Arrow schema.
        read: Returns its rows in batches that have at least the columns of some names.
        is_once: Whether it can be read only once.
    """

    schema: Any
    read: Callable[[list[str]], Iterator[Any]]
    is_once: bool


def find_batches(table: object) -> Batches | None:
    """Return how to read a table batch by batch, `None` for one that is held in memory."""
    names = ("narwhals", "polars", "duckdb", "pyarrow.dataset")
    narwhals, polars, duckdb, dataset = map(sys.modules.get, names)
    found: Any = table
    if narwhals is not None and isinstance(found, narwhals.LazyFrame):
        found = found.to_native()
    if duckdb is not None and isinstance(found, duckdb.DuckDBPyRelation):
        return _guard(lambda: _of_relation(found))
    if polars is not None and isinstance(found, polars.LazyFrame):
        # Older versions can only collect it.
        return _guard(lambda: _of_frame(found)) if hasattr(found, "collect_batches") else None
    if dataset is not None and isinstance(found, dataset.Dataset):
        return Batches(found.schema, lambda names: found.to_batches(columns=names), is_once=False)
    if isinstance(found, pa.RecordBatchReader):
        return Batches(found.schema, lambda _: iter(found), is_once=True)
    return None


def _of_relation(relation: Any) -> Batches:  # noqa: ANN401 - DuckDB may not be installed
    def read(names: list[str]) -> Iterator[Any]:
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        chosen = relation.project(", ".join(quoted))
        # Versions before 1.4 have another name for it.
        to_reader = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
        return iter(to_reader(BATCH))

    first = relation.limit(0)
    to_table = getattr(first, "to_arrow_table", None) or first.arrow
    return Batches(to_table().schema, read, is_once=False)


def _of_frame(frame: Any) -> Batches:  # noqa: ANN401 - Polars may not be installed
    def read(names: list[str]) -> Iterator[Any]:
        for some in frame.select(names).collect_batches(chunk_size=BATCH, engine="streaming"):
            yield from some.to_arrow().to_batches()

    return Batches(frame.limit(0).collect().to_arrow().schema, read, is_once=False)


class BatchFile:
    """Batches in place of a file.

    Args:
        batches: The batches.
        name: The name for messages.
        wanted: What is wanted of them.

    Raises:
        FormatError: There are no such columns.
    """

    def __init__(self, batches: Batches, name: str, wanted: Wanted) -> None:
        self.name = name
        self.notes: dict[str, tuple[int, int]] = {}
        self._batches = batches
        names, inside = names_of(batches.schema)
        self.names = [*names, *(field for of in inside.values() for field in of)]
        self.columns = wanted.choose(names, inside, name)
        self.schema = pa.schema(choose_fields(batches.schema, self.columns.values()))

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        return regroup(self._read(), rows_of_batch(self.schema))

    def _read(self) -> Iterator[Any]:
        names = list(self.schema.names)
        batches = _guard(lambda: iter(self._batches.read(names)))
        while (whole := _guard(lambda: next(batches, None))) is not None:
            batch = whole.select(names)
            _guard(lambda batch=batch: check_batch(batch))  # type: ignore[misc]  # offsets may point anywhere
            yield batch


def _guard(act: Callable[[], T]) -> T:
    """Read something of another library, and raise a typed error if it can't."""
    try:
        return act()
    except (RankscopeError, KeyboardInterrupt):
        raise
    except MemoryError as error:
        raise OutOfMemoryError(
            f"not enough memory to compute the table ({first_line(error)})",
            hint="raise the memory limit of the process, or write the table to a Parquet file",
            code="memory",
        ) from error
    except Exception as error:
        raise FormatError(
            f"expected a table that can be computed, found an error ({first_line(error)})",
            hint="compute it without rankscope to see the whole message",
            code="input_type",
        ) from error
