"""Rankings with their values and clusters, grouped by context."""

from __future__ import annotations

from hashlib import blake2b

from rankscope.monitor.evaluate.clusters import name_clusters
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.store.records import Chunk

CLUSTER_BYTES = 8


@record(frozen=True, slots=True)
class Sample:
    """Rankings with their values and clusters, in the order of their contexts.

    Args:
        contexts: The number of what each has in common with others, ascending.
        times: When it was shown, in microseconds since 1970 in UTC.
        clusters: Whose it is: the user, else the query, else itself, as a number made of the name.
        is_labelled: Whether a document of it has a grade that somebody gave.
        values: By measure, its value; NaN where the mean leaves it out.
    """

    contexts: NDArray[np.int64]
    times: NDArray[np.int64]
    clusters: NDArray[np.int64]
    is_labelled: NDArray[np.bool_]
    values: dict[str, NDArray[np.float64]]

    def find(self, contexts: Collection[int]) -> NDArray[np.int64]:
        """Return the places of the rankings of some contexts."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        numbers = np.array(sorted(contexts), dtype=np.int64)
        starts = np.searchsorted(self.contexts, numbers, side="left").tolist()
        ends = np.searchsorted(self.contexts, numbers, side="right").tolist()
        runs = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
        return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)


def collect_sample(
    chunks: Iterable[Chunk],
    contexts: Collection[int],
    definition: Definition,
    *,
    now: int | None,
    threads: int | None = None,
) -> Sample:
    """Evaluate the rankings of some contexts whose values are final.

    Args:
        chunks: The rankings and their labels.
        contexts: The numbers of what those that are wanted have in common.
        definition: The definition to evaluate with.
        now: The time as of which labels count, in microseconds since 1970 in UTC; without one,
            all labels count, and nothing is pending.
        threads: The number of threads; the values do not depend on it.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    wanted = np.array(sorted(contexts), dtype=np.int64)
    names = [measure.name for measure in definition.measures]
    columns: list[list[NDArray[np.generic]]] = [[] for _ in range(4 + len(names))]
    with_some = (chunk for chunk in chunks if np.isin(chunk.contexts, wanted).any())
    for each in evaluate_chunks(with_some, definition, now=now, threads=threads):
        chunk, graded = each.chunk, each.graded
        kept = np.flatnonzero(np.isin(chunk.contexts, wanted) & graded.is_mature)
        clusters = [_number(name) for name in name_clusters(chunk, kept.tolist())]
        found = [
            chunk.contexts[kept],
            chunk.times[kept],
            np.array(clusters, dtype=np.int64),
            graded.is_labelled[kept],
            *(measured.value[kept] for measured in each.values.measures),
        ]
        for column, more in zip(columns, found, strict=True):
            column.append(more)
    kinds = (np.int64, np.int64, np.int64, np.bool_, *(np.float64 for _ in names))
    whole = [
        np.concatenate([np.empty(0, dtype=kind), *parts])
        for kind, parts in zip(kinds, columns, strict=True)
    ]
    order = np.argsort(whole[0], kind="stable")
    at, times, users, is_labelled, *values = (column[order] for column in whole)
    return Sample(at, times, users, is_labelled, dict(zip(names, values, strict=True)))


def _number(name: bytes) -> int:
    """Return a number for a name that is the same in every process."""
    return int.from_bytes(blake2b(name, digest_size=CLUSTER_BYTES).digest(), "big", signed=True)
