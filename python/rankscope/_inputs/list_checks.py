"""Checks that the rows of a query in a table are one list of one run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import of_array, to_array
from rankscope._inputs.columns import simplify
from rankscope._inputs.roles import SPLIT
from rankscope.deferred import pa, pc
from rankscope.errors import DuplicateError
from rankscope.output.diagnostics import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope._inputs.doubles import Foreign
    from rankscope._inputs.reading import Note


MOST_TAGS = 16
"""A column with more different values doesn't name runs."""


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
        for role, name in columns.items():
            if role.startswith(SPLIT):
                query = columns["query"]
                pairs = rows.select([query, name]).drop_null().group_by([query, name])
                counts = pairs.aggregate([]).group_by(query).aggregate([([], "count_all")])
                self._split[name] += pc.sum(pc.greater(counts.column("count_all"), 1)).as_py() or 0

    def add_lists(self, queries: Foreign, ends: NDArray[np.int64], before: int) -> None:
        """Keep the query and the first row of each list of a batch, after so many rows."""
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
        encoded = pa.concat_arrays(self._queries or [pa.nulls(0)]).dictionary_encode()
        if len(encoded.dictionary) == len(encoded) or encoded.null_count:
            return None  # a missing ID is refused later
        firsts = np.unique(to_array(encoded.indices), return_index=True)[1]
        again = int(np.setdiff1d(np.arange(len(encoded)), firsts)[0])
        return DuplicateError(
            f"expected one list for each query, found two of {encoded[again]!s:.120}",
            hint="keep one row per query; if its rows are different searches, name the column "
            "that tells them apart: query='search_id'",
            code="duplicate_query",
            line=int(np.concatenate(self._rows)[again]) + 1,
        )

    def find_runs(self) -> str:
        """Return the column that names several runs; empty if there is none."""
        several = (name for name, tags in self._tags.items() if 1 < len(tags) <= MOST_TAGS)
        return next(several, "")

    def notes(self, table: str, query: str) -> list[Note]:
        """Return the notes about a table with this column of queries."""
        split = {name: count for name, count in self._split.items() if count}
        tagged = [len(tags) for tags in self._tags.values() if 1 < len(tags) <= MOST_TAGS]
        return [
            *(
                describe("query_split", count, {"column": name, "query": query}, file=table)
                for name, count in split.items()
            ),
            *(("multiple_tags", count, 0) for count in tagged),
        ]
