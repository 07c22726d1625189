"""Turns rows that hold a whole ranking as lists into one row per document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankscope._inputs.column_names import SPLIT
from rankscope._inputs.columns import is_list, of_array, simplify, to_array
from rankscope._inputs.numbers import Foreign, refuse
from rankscope._show.diagnostics import describe
from rankscope.errors import DuplicateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.reading import Note


RANK = "rank"


def explode(
    batch: Foreign, columns: Mapping[str, str], lists: set[str], *, is_ranked: bool
) -> tuple[dict[str, Foreign], NDArray[np.int64]]:
    """Turn each element of the lists of a batch into a row, and say where those of a list end."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = {name: batch.column(name) for name in sorted(lists)}
    first, *_ = arrays.values()
    lengths = np.empty(0, dtype=np.int64)
    for name, column in arrays.items():
        if column.null_count:
            row = column.is_null().index(True).as_py()
            message = f"expected a list in every row of {name}, found none"
            raise refuse("missing_list", "", message, [row])
        sizes = to_array(pc.list_value_length(column).cast(pa.int64()))
        lengths = sizes if column is first else lengths
        for row in np.flatnonzero(lengths != sizes)[:1].tolist():
            message = (
                f"expected lists of one length in a row, found {lengths[row]} and {sizes[row]}"
            )
            hint = "every document needs a value in every list"
            raise refuse("length_mismatch", "", message, [row], hint)
        if is_list(column.type.value_type):
            message = f"expected a list of documents in each row of {name}, found a list of lists"
            raise refuse("nested_lists", "", message)
    parents = pc.list_parent_indices(first)
    rows: dict[str, Foreign] = {}
    for name in columns.values():
        outer, _, inner = name.rpartition(".")
        if name in arrays:
            rows[name] = pc.list_flatten(arrays[name])
        elif outer in arrays:
            # A field is null where its struct is null.
            rows[name] = pc.struct_field(pc.list_flatten(arrays[outer]), inner)
        else:
            rows[name] = batch.column(name).take(parents)
    if is_ranked:
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows[RANK] = of_array((np.arange(len(parents)) - starts + 1).astype(np.float64))
    return rows, np.cumsum(lengths)


# A column with more different values doesn't name runs.
MOST_TAGS = 16


class ListChecks:
    """What was read of a table so far that may say that a query has several lists."""

    def __init__(self) -> None:
        self._split: Counter[str] = Counter()
        self._tags: dict[str, set[object]] = {}
        self._queries: list[Foreign] = []
        self._rows: list[NDArray[np.int64]] = []

    def take_tags(self, batch: Foreign, names: Sequence[str]) -> Foreign:
        """Return a batch without the columns that name runs, of which the first names are kept."""
        for name in names:
            tags = self._tags.setdefault(name, set())
            if len(tags) <= MOST_TAGS:
                tags.update(simplify(batch.column(name)).unique()[: MOST_TAGS + 2].to_pylist())
                tags.discard(None)
        return batch.drop_columns(names)

    def note_splits(self, rows: Foreign, columns: Mapping[str, str]) -> None:
        """Count the queries that columns divide; all rows of these queries are here."""
        import pyarrow.compute as pc

        for role, name in columns.items():
            if role.startswith(SPLIT):
                query = columns["query"]
                pairs = rows.select([query, name]).drop_null().group_by([query, name])
                counts = pairs.aggregate([]).group_by(query).aggregate([([], "count_all")])
                self._split[name] += pc.sum(pc.greater(counts.column("count_all"), 1)).as_py() or 0

    def add_lists(self, queries: Foreign, ends: NDArray[np.int64], before: int) -> None:
        """Keep the query and the first row of each list of a batch, after so many rows."""
        import numpy as np

        starts = np.append(0, ends[:-1])[np.diff(ends, prepend=0) > 0]
        self._queries.append(queries.take(of_array(starts)))
        self._rows.append(starts + before)

    def merge(self, other: ListChecks) -> None:
        """Add what was read of other rows, of which no query is here."""
        self._split += other._split
        for name, tags in other._tags.items():
            self._tags.setdefault(name, set()).update(tags)

    def find_second_list(self) -> DuplicateError | None:
        """Return the error for a query with two lists, whose line is a row."""
        import numpy as np
        import pyarrow as pa

        encoded = pa.concat_arrays(self._queries or [pa.nulls(0)]).dictionary_encode()
        if len(encoded.dictionary) == len(encoded) or encoded.null_count:
            return None  # a missing ID is refused later
        firsts = np.unique(to_array(encoded.indices), return_index=True)[1]
        again = int(np.setdiff1d(np.arange(len(encoded)), firsts)[0])
        message = f"expected one list for each query, found two of {encoded[again]!s:.120}"
        hint = (
            "keep one row per query; if its rows are different searches, name the column that "
            "tells them apart: query='search_id'"
        )
        line = int(np.concatenate(self._rows)[again]) + 1
        return DuplicateError(message, hint=hint, code="duplicate_query", line=line)

    def find_runs(self) -> str:
        """Return the column that names several runs; empty if there is none."""
        several = (name for name, tags in self._tags.items() if 1 < len(tags) <= MOST_TAGS)
        return next(several, "")

    def notes(self, table: str, query: str) -> list[Note]:
        """Return the notes about a table with this column of queries."""
        notes: list[Note] = [
            describe("query_split", count, {"column": name, "query": query}, file=table)
            for name, count in self._split.items()
            if count
        ]
        counts = map(len, self._tags.values())
        return notes + [("multiple_tags", count, 0) for count in counts if 1 < count <= MOST_TAGS]
