"""The order of queries on which random draws and sums over queries depend."""

from __future__ import annotations

from rankscope._core import order_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def order_queries(query_ids: Sequence[str]) -> list[int]:
    """Return the places of queries in the order of their ids as text.

    Whatever resamples queries, or adds up rounded numbers of them, takes them in this order. The
    result then doesn't depend on the order of the rows, or on whether ids are integers or text.
    """
    try:
        return order_texts(query_ids)
    except UnicodeEncodeError:  # lone surrogates aren't UTF-8, which has the same order
        return sorted(range(len(query_ids)), key=query_ids.__getitem__)
