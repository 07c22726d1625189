"""Judgments of dictionaries in the core, for all queries of an evaluator or for some of them."""

from __future__ import annotations

from itertools import chain, repeat

from rankscope._core import Judgments
from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Grades: TypeAlias = Mapping[str, Mapping[str, int]]


@record(frozen=True, slots=True)
class Judged:
    """Judgments in the core.

    Args:
        judgments: The judgments.
        places: The place of each query in the columns of values.
    """

    judgments: Judgments
    places: Mapping[str, int]

    def suits(self, queries: Sequence[str]) -> bool:
        """Whether it has these queries, and not many others, for which zeros would be computed."""
        return len(self.places) <= 2 * len(queries) and self.places.keys() >= set(queries)


def load(grades: Grades) -> Judged:
    """Load judgments as columns, which the core reads faster than dictionaries."""
    queries = list(chain.from_iterable(map(repeat, grades, map(len, grades.values()))))
    documents = list(chain.from_iterable(grades.values()))
    numbers = list(chain.from_iterable(judged.values() for judged in grades.values()))
    try:
        column = np.array(numbers, dtype=np.float64)
        judgments = Judgments.from_columns(_pack(queries), _pack(documents), column, "error")
    except (FormatError, UnicodeEncodeError):
        judgments = Judgments.from_dict(grades, "error")  # its errors say where
    return Judged(judgments, {query: place for place, query in enumerate(grades)})


def _pack(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return a column of texts: where each one starts and ends, and the bytes of all."""
    packed = "".join(texts).encode()
    lengths = map(len, texts if packed.isascii() else map(str.encode, texts))
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(texts)))
    return np.concatenate((np.zeros(1, np.int64), ends)), np.frombuffer(packed, np.uint8)
