"""Whose ranking each is: what is independent of the others."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.monitor.store.chunks import Chunk


def name_clusters(chunk: Chunk, places: Sequence[int]) -> Iterator[bytes]:
    """Name whose ranking each is: the user, else the query, else nobody's but its own.

    Args:
        chunk: The rankings.
        places: Which of them.

    Yields:
        A name for each; a user may be called as a query is, and is another all the same.
    """
    columns = [
        (kind, offsets.tolist(), text.tobytes())
        for kind, (offsets, text) in (
            (b"u", chunk.user_ids),
            (b"q", chunk.query_keys),
            (b"r", chunk.ranking_ids),
        )
    ]
    for place in places:
        for kind, offsets, text in columns:
            start, end = offsets[place], offsets[place + 1]
            if start < end:
                yield kind + text[start:end]
                break
