"""The contribution of truncation and ordering to a change, split by documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._show.table import Cell, Table, name_rows
from rankscope._stats.sums import sum_groupings
from rankscope.errors import FormatError
from rankscope.monitor.why.decomposition import divide, split_change
from rankscope.monitor.why.decomposition_result import ALL

Codes: TypeAlias = NDArray[np.int32]
Numbers: TypeAlias = NDArray[np.float64]


MOST_VALUES = 50
"""The maximum number of values of an attribute with a row of their own."""
OTHER = "<other>"
ROUNDING = 1e-15
COLUMNS = (
    "value",
    "documents before",
    "documents after",
    "regret before",
    "regret after",
    "adds",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretChange:
    """The regrets of documents before and after, by an attribute of the documents.

    The regret of a document is what its gain contributes in the ideal order minus what it
    contributes at its rank, as a share of the ideal. The regrets of a query add up to its
    truncation and ordering losses.

    Args:
        attribute: The attribute of the documents.
        slice: The queries: `all`, or a slice that is a cause.
        total: The sum of `adds`: the contribution of truncation and ordering to the change, as in
            `Decomposition.losses` or, for a slice, `SliceChange.losses`.
        table: One row per value of the attribute, largest contribution to a drop first: the number
            of `documents` with a gain, their mean `regret` per query before and after, and the
            contribution to the change (`adds`).
    """

    attribute: str
    slice: str
    total: float
    table: Table

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "attribute": self.attribute,
            "slice": self.slice,
            "total": self.total,
            "values": name_rows(self.table),
        }


@dataclass(frozen=True, slots=True)
class DocumentRegrets:
    """The documents of a window that have a gain.

    Args:
        rows: The index of the query of each document.
        regrets: The regret of each document. The regrets of a query add up to its truncation and
            ordering losses.
        values: The distinct values of each attribute, and the index of each document's value.

    Raises:
        FormatError: Columns have different lengths.
    """

    rows: NDArray[np.integer[Any]]
    regrets: Numbers
    values: Mapping[str, tuple[tuple[str, ...], Codes]]

    def __post_init__(self) -> None:
        for name, (_, codes) in self.values.items():
            if not len(self.rows) == len(self.regrets) == len(codes):
                raise FormatError(
                    f"expected a {name} of each of {len(self.rows)} documents, found {len(codes)}",
                    hint="pass one value for each document",
                    code="length_mismatch",
                )


def split_regrets(
    documents: tuple[DocumentRegrets, DocumentRegrets],
    groups: tuple[Codes, Codes],
    counts: Numbers,
    names: Iterable[tuple[int, str]],
) -> tuple[RegretChange, ...]:
    """Return the contribution of truncation and ordering, split by attributes of documents."""
    shown = list(names)
    attributes = [name for name in documents[0].values if name in documents[1].values]
    many = counts.shape[-1]
    joined = [_join([each.values[name] for each in documents]) for name in attributes]
    numbers = [np.zeros((2, len(texts), many)) for texts, _ in joined]
    sums = [np.zeros((2, len(texts), many)) for texts, _ in joined]
    for at, window in enumerate(documents):
        group = groups[at][window.rows]
        cells = []
        for name, (_, translated) in zip(attributes, joined, strict=True):
            each = translated[at][window.values[name][1]]
            each *= np.int32(many)
            each += group
            cells.append(each)
        sizes = [number[at].size for number in numbers]
        for number, each in zip(numbers, cells, strict=True):
            number[at].flat = np.bincount(each, minlength=number[at].size)
        for total, summed in zip(sums, sum_groupings(window.regrets, cells, sizes), strict=True):
            total[at].flat = summed
    found = []
    for name, (texts, _), number, total in zip(attributes, joined, numbers, sums, strict=True):
        found += _tell(name, texts, (number, total, counts), shown)
    return tuple(found)


def _tell(
    attribute: str,
    texts: Sequence[str],
    summed: tuple[Numbers, Numbers, Numbers],
    shown: Sequence[tuple[int, str]],
) -> list[RegretChange]:
    """Return the contribution by the values of an attribute, over all queries and by group."""
    numbers, sums, counts = summed
    # The axes of a change are window and slice; each value is a column of its own.
    split = split_change(counts, np.moveaxis(sums, 0, 1))
    added = 0.0 - (split.within + split.entered + split.left)
    # What rounding leaves of nothing is nothing; all of it together is below 1e-15.
    added[np.abs(added) * added.size < ROUNDING] = 0.0
    made = [
        _tabulate(
            texts,
            numbers.sum(axis=-1),
            divide(_add_up(sums), counts.sum(axis=-1)[:, None]),
            np.array([math.fsum(row) for row in added]),
        )
    ]
    for group, _ in shown:
        means = divide(sums[..., group], counts[:, group, None])
        made.append(_tabulate(texts, numbers[..., group], means, added[:, group]))
    return [
        RegretChange(
            attribute=attribute, slice=name, total=math.fsum(table.array("adds")), table=table
        )
        for name, table in zip((ALL, *(name for _, name in shown)), made, strict=True)
    ]


def _add_up(sums: Numbers) -> Numbers:
    """Return the sums of groups, which don't depend on the order."""
    return np.array([[math.fsum(row) for row in window] for window in sums])


def _tabulate(texts: Sequence[str], numbers: Numbers, means: Numbers, added: Numbers) -> Table:
    """Return the table of the values of an attribute, largest contribution to a drop first."""
    order = sorted(range(len(texts)), key=lambda at: (added[at], texts[at]))
    there = [at for at in order if numbers[:, at].any()]
    rows: list[tuple[Cell, ...]] = [
        (
            texts[at],
            *(int(window[at]) for window in numbers),
            *(float(window[at]) for window in means),
            float(added[at]),
        )
        for at in there
    ]
    return Table({name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)})


def _join(columns: Sequence[tuple[tuple[str, ...], Codes]]) -> tuple[list[str], list[Codes]]:
    """Return common values of both windows, with one for rare values."""
    sizes: dict[str, int] = {}
    for texts, codes in columns:
        for text, size in zip(
            texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True
        ):
            sizes[text] = sizes.get(text, 0) + size
    ordered = sorted(sizes, key=lambda text: (-sizes[text], text))
    kept = ordered[:MOST_VALUES]
    names = [*kept, OTHER] if len(ordered) > MOST_VALUES else kept
    place = {text: at for at, text in enumerate(kept)} | dict.fromkeys(
        ordered[MOST_VALUES:], len(kept)
    )
    return names, [
        np.array([place[text] for text in texts], dtype=np.int32) for texts, _ in columns
    ]
