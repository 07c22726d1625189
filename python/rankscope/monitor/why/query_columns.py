"""The queries of a window as columns, the input of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import EmptyError, FormatError
from rankscope.monitor.why.decomposition_result import LOSSES

if TYPE_CHECKING:
    from rankscope.monitor.why.document_regrets import DocumentRegrets


"""The value of an attribute that a query doesn't have."""
ROUNDING = 1e-9
"""The tolerance for the sum of a value and its losses, which is 1."""
MOST = 1e100
"""The upper limit of numbers whose sums are exact in double precision."""

AMOUNTS = ("value", *LOSSES, "ideal", "relevant")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A dictionary-encoded column of texts.

    Args:
        texts: The texts. Duplicates count as the same text.
        codes: The index of each query's text, or -1 if it has none.

    Raises:
        FormatError: A code is out of range.
    """

    texts: tuple[str, ...]
    codes: NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        if len(self.codes) == 0:
            return
        ends = int(self.codes.min()), int(self.codes.max())
        if ends[0] < -1 or ends[1] >= len(self.texts):
            raise FormatError(
                f"expected codes from -1 to below {len(self.texts)}, the number of texts, found "
                f"{ends[0]} to {ends[1]}",
                hint="pass a text for every code",
                code="column_damaged",
            )

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> TextColumn:
        """Return the column for a text per query, or `None` if a query has none.

        Examples:
            >>> column = TextColumn.of(["tv", "phone", None, "tv"])
            >>> column.texts, column.codes.tolist()
            (('tv', 'phone'), [0, 1, -1, 0])
        """
        places: dict[str, int] = {}
        codes = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
        return cls(tuple(places), np.array(codes, dtype=np.int32))


class TextList(Sequence[str]):
    """Texts that are decoded when they are read, so that millions of them take little memory.

    Args:
        offsets: Where each text starts, and where the last one ends.
        text: The texts in UTF-8, end to end.

    Examples:
        >>> import numpy as np
        >>> texts = TextList(np.array([0, 1, 3]), np.frombuffer(b"abc", np.uint8))
        >>> len(texts), texts[-1], list(texts)
        (2, 'bc', ['a', 'bc'])
    """

    def __init__(self, offsets: NDArray[np.int64], text: NDArray[np.uint8]) -> None:
        self._offsets = offsets
        self._text = text

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        at = range(len(self))[place]
        return self._text[self._offsets[at] : self._offsets[at + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        whole = self._text.tobytes()
        for start, end in pairwise(self._offsets.tolist()):
            yield whole[start:end].decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryColumns:
    """The queries of one window, with one number or text per query in each column.

    Args:
        measure: The definition of the measure, such as `nDCG@5`.
        value: The values. A value and its losses add up to 1.
        retrieval: The losses due to documents that were not retrieved; `None` if the ideal only has
            documents that were shown, so this loss is unknown.
        truncation: The losses due to documents that were retrieved below the cutoff.
        ordering: The losses due to the order of the documents above the cutoff.
        undefined: 1 minus the value, for queries without relevant documents.
        ideal: The DCG of the ideal.
        relevant: The number of known relevant documents.
        key: What identifies a query across windows: its text, or the user.
        cluster: The cluster of each query, such as the user. Clusters are resampled as a whole for
            intervals (default: the key).
        attributes: The attributes to slice by, such as country and device, by name.
        ranking_ids: The ID of each query in the log, if known.
        documents: The regrets of the documents of the queries, if known.

    Raises:
        EmptyError: There are no queries.
        FormatError: Columns have different lengths, contain values that aren't finite, or don't add
            up.
    """

    measure: str
    value: NDArray[np.float64]
    retrieval: NDArray[np.float64] | None
    truncation: NDArray[np.float64]
    ordering: NDArray[np.float64]
    undefined: NDArray[np.float64]
    ideal: NDArray[np.float64]
    relevant: NDArray[np.float64]
    key: TextColumn
    cluster: TextColumn | None = None
    attributes: Mapping[str, TextColumn]
    ranking_ids: Sequence[str] | None = None
    documents: DocumentRegrets | None = None

    def __post_init__(self) -> None:
        if len(self.value) == 0:
            raise EmptyError(
                "one of the windows has no queries",
                hint="use a longer window, or check that events arrive",
                code="empty_input",
            )
        columns = {name: getattr(self, name) for name in AMOUNTS}
        texts = {"key": self.key, "cluster": self.cluster, **self.attributes}
        columns |= {name: column and column.codes for name, column in texts.items()}
        columns["ranking_id"] = self.ranking_ids
        for name, column in columns.items():
            if column is not None and len(column) != len(self.value):
                raise FormatError(
                    f"expected {len(self.value)} values of {name}, one per query, found "
                    f"{len(column)}",
                    hint="pass a value for every query in every column",
                    code="length_mismatch",
                )
        for name in AMOUNTS:
            _check_numbers(name, columns[name])
        self._check_sums()

    def _check_sums(self) -> None:
        whole = self.value + self.truncation + self.ordering + self.undefined
        if self.retrieval is not None:
            whole = whole + self.retrieval
        worst = int(abs(whole - 1).argmax())
        if not abs(whole[worst] - 1) <= ROUNDING:
            raise FormatError(
                "expected a value and its losses that add up to 1, found "
                f"{whole[worst]:.17g} in query {worst + 1}",
                hint="take all of them from the losses of one measure, such as nDCG",
                code="bad_losses",
            )

    @property
    def clusters(self) -> TextColumn:
        """The clusters, or the keys if there are none."""
        return self.key if self.cluster is None else self.cluster

    def __len__(self) -> int:
        return len(self.value)


def _check_numbers(name: str, column: NDArray[np.float64] | None) -> None:
    # NaN and infinity fail the comparison, too.
    if column is None or float(abs(column).max()) < MOST:
        return
    worst = next(index for index, number in enumerate(column) if not abs(number) < MOST)
    raise FormatError(
        f"expected finite numbers below {MOST:g} in {name}, found {column[worst]} in query "
        f"{worst + 1}",
        hint="remove the queries that the policy leaves out",
        code="bad_losses",
    )
