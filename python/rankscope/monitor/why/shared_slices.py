"""The attributes of two windows, with common codes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from rankscope._show.table import MISSING
from rankscope.errors import UsageError
from rankscope.monitor.why.document_regrets import Codes
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn

OTHER = "<other>"
"""The name of the combined rare values of an attribute."""


@dataclass(frozen=True, slots=True)
class SliceAxis:
    """An attribute of the queries of two windows.

    Args:
        name: The name of the attribute.
        texts: The distinct values, sorted.
        codes: The index of each query's value, by window.
        folded: The number of values combined as `<other>`.
        folded_queries: The number of queries of both windows with one of these values.
    """

    name: str
    texts: tuple[str, ...]
    codes: tuple[Codes, Codes]
    folded: int
    folded_queries: int


def share_attribute(
    before: QueryColumns, after: QueryColumns, name: str, most_values: int
) -> SliceAxis:
    """Return an attribute with common codes for both windows.

    If there are more than `most_values` values, the least frequent ones are combined as `<other>`.
    Queries without the attribute have the value `<missing>`, which doesn't count.
    """
    columns = [window.attributes.get(name) for window in (before, after)]
    if columns == [None, None]:
        known = ", ".join(sorted({*before.attributes, *after.attributes})) or "none"
        raise UsageError(
            f"the queries have no attribute {name!r}",
            hint=f"the attributes are {known}",
            code="unknown_attribute",
        )
    none = TextColumn((), np.zeros(0, dtype=np.int32))
    places, translations = join_texts(*(column or none for column in columns))
    known_codes: list[Codes] = []
    for window, column, translation in zip((before, after), columns, translations, strict=True):
        # The last place of a translation is that of a code below 0.
        given = np.full(len(window), -1, dtype=np.int32) if column is None else column.codes
        known_codes.append(translation[given])
    sizes = sum(np.bincount(codes, minlength=len(places) + 1) for codes in known_codes)
    return _fold(name, list(places), known_codes, np.asarray(sizes), most_values)


def join_texts(one: TextColumn, other: TextColumn) -> tuple[dict[str, int], list[Codes]]:
    """Return common codes for the texts of two columns."""
    different = dict.fromkeys(chain(one.texts, other.texts))
    places = dict(zip(different, count(), strict=False))
    numbered = [[*map(places.__getitem__, column.texts), len(places)] for column in (one, other)]
    return places, [np.array(codes, dtype=np.int32) for codes in numbered]


def _fold(
    name: str, texts: list[str], codes: list[Codes], sizes: NDArray[np.int64], most_values: int
) -> SliceAxis:
    """Return the sorted values, with one name for all but the most frequent ones."""
    frequent = sorted(
        (place for place in range(len(texts)) if sizes[place]),
        key=lambda place: (-int(sizes[place]), texts[place]),
    )
    kept, rare = frequent[:most_values], frequent[most_values:]
    named = {place: texts[place] for place in kept} | dict.fromkeys(rare, OTHER)
    if sizes[-1]:
        named[len(texts)] = MISSING
    order = sorted(set(named.values()))
    position = {text: number for number, text in enumerate(order)}
    translation = np.zeros(len(texts) + 1, dtype=np.int32)
    for place, text in named.items():
        translation[place] = position[text]
    return SliceAxis(
        name,
        tuple(order),
        (translation[codes[0]], translation[codes[1]]),
        len(rare),
        int(sizes[rare].sum()),
    )


@dataclass(frozen=True, slots=True)
class SharedKeys:
    """The query keys of two windows, with common codes.

    Args:
        texts: The keys.
        codes: The code of each query's key, by window; the number of keys if it has none.
        counts: The number of queries, by window and key.
    """

    texts: tuple[str, ...]
    codes: tuple[NDArray[np.int32], NDArray[np.int32]]
    counts: NDArray[np.float64]

    @property
    def common(self) -> NDArray[np.int64]:
        """The codes of the keys that occur in both windows."""
        return np.flatnonzero((self.counts > 0).all(axis=0))


def share_keys(before: QueryColumns, after: QueryColumns) -> SharedKeys:
    """Return the keys of two windows with common codes."""
    places, (first, second) = join_texts(before.key, after.key)
    codes = first[before.key.codes], second[after.key.codes]
    counts = [np.bincount(each, minlength=len(places) + 1)[:-1] for each in codes]
    return SharedKeys(tuple(places), codes, np.array(counts, dtype=np.float64))
