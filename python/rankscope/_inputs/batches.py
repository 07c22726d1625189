"""Tables that a library yields batch by batch: DuckDB relations, lazy frames, datasets, readers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._inputs.arrow import check_batch
from rankscope._inputs.columnar import BATCH, choose_fields, names_of, regroup, rows_of_batch
from rankscope._inputs.text import COMPUTED, Reader
from rankscope.deferred import pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankscope._inputs.doubles import Foreign
    from rankscope._inputs.text import Lines


@dataclass(frozen=True, slots=True)
class Batches:
    """A table of another library, to read batch by batch.

    Args:
        schema: Returns its Arrow schema.
        read: Returns its rows in batches that have at least the columns of some names.
        is_once: Whether it can be read only once.
    """

    schema: Callable[[], Foreign]
    read: Callable[[list[str]], Iterable[Foreign]]
    is_once: bool = False


def find_batches(table: object) -> Batches | None:
    """Return how to read a table batch by batch, `None` for one that is held in memory."""
    names = ("narwhals", "polars", "duckdb", "pyarrow.dataset")
    narwhals, polars, duckdb, dataset = map(sys.modules.get, names)
    found: Foreign = table
    if narwhals is not None and isinstance(found, narwhals.LazyFrame):
        found = found.to_native()
    if duckdb is not None and isinstance(found, duckdb.DuckDBPyRelation):
        return _of_relation(found)
    if polars is not None and isinstance(found, polars.LazyFrame):
        # Older versions can only collect it.
        return _of_frame(found) if hasattr(found, "collect_batches") else None
    if dataset is not None and isinstance(found, dataset.Dataset):
        return Batches(lambda: found.schema, lambda names: found.to_batches(columns=names))
    if isinstance(found, pa.RecordBatchReader):
        return Batches(lambda: found.schema, lambda _: found, is_once=True)
    return None


def _of_relation(relation: Foreign) -> Batches:
    def read_schema() -> Foreign:
        first = relation.limit(0)
        # Versions before 1.4 have other names.
        return (getattr(first, "to_arrow_table", None) or first.arrow)().schema

    def read(names: list[str]) -> Foreign:
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        chosen = relation.project(", ".join(quoted))
        return (getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch)(BATCH)

    return Batches(read_schema, read)


def _of_frame(frame: Foreign) -> Batches:
    def read(names: list[str]) -> Iterator[Foreign]:
        for some in frame.select(names).collect_batches(chunk_size=BATCH, engine="streaming"):
            yield from some.to_arrow().to_batches()

    return Batches(lambda: frame.limit(0).collect().to_arrow().schema, read)


class BatchFile(Reader):
    """Batches in place of a file."""

    code, hint = COMPUTED

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names in the schema."""
        self._stored = self.opened.given.schema()
        return names_of(self._stored)

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return the types that the library has."""
        return pa.schema(choose_fields(self._stored, names))

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read batches of a size that suits their types."""
        return regroup(self._select(), rows_of_batch(self.inner))

    def _select(self) -> Iterator[Foreign]:
        for whole in self.opened.given.read(self.inner.names):
            batch = whole.select(self.inner.names)
            check_batch(batch)  # offsets may point anywhere
            yield batch
