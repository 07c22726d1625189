"""Rankings with the values that they have as of a moment."""

from __future__ import annotations

from rankscope.monitor.grading import grade_chunk
from rankscope.monitor.values import evaluate_chunk
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankscope.monitor.definition import Definition
    from rankscope.monitor.grading import Graded
    from rankscope.monitor.store.chunks import Chunk
    from rankscope.monitor.values import Values


@record(frozen=True, slots=True)
class Evaluated:
    """Rankings, what is known of their documents, and their values.

    Args:
        chunk: The rankings and their labels.
        graded: The grades of their documents.
        values: One of each measure a ranking.
    """

    chunk: Chunk
    graded: Graded
    values: Values


def evaluate_chunks(
    chunks: Iterable[Chunk],
    definition: Definition,
    *,
    now: int | None,
    threads: int | None = None,
) -> Iterator[Evaluated]:
    """Evaluate rankings by what is known of them as of a moment.

    Args:
        chunks: The rankings and their labels.
        definition: What to measure.
        now: The moment, in microseconds since 1970 in UTC; without one, all labels count and
            nothing is pending.
        threads: How many threads may work; the values do not depend on it.

    Yields:
        Each chunk, evaluated.
    """
    for chunk in chunks:
        graded = grade_chunk(chunk, definition, now)
        yield Evaluated(chunk, graded, evaluate_chunk(chunk, graded, definition, threads))
