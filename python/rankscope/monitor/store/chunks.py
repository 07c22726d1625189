"""Rankings and their labels as they come back from a store: columns."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.events import Environment
    from rankscope.monitor.store.packing import ItemColumns, Texts


@record(frozen=True, slots=True)
class Context:
    """What many rankings have in common.

    Args:
        model: The model that ranked.
        version: Its version.
        environment: Where.
        attributes: Names and values, by name.
    """

    model: str
    version: str
    environment: Environment
    attributes: tuple[tuple[str, str], ...]


@record(frozen=True, slots=True)
class LabelColumns:
    """Labels of rankings, ranking by ranking, and within one in the order in which they count.

    Args:
        rankings: The place in the chunk of the ranking of each.
        doc_ids: The offsets of the ids of their documents, and the ids in UTF-8, end to end.
        times: Microseconds since 1970 in UTC.
        kinds: Places in `LABEL_KINDS`.
        names: Which labels there are: each different list of labels once.
        codes: The place of its list among those.
        values: Grades, NaN where there is none.
        event_ids: The offsets of what they are known by, and the ids, where they were asked for.
    """

    rankings: NDArray[np.int64]
    doc_ids: Texts
    times: NDArray[np.int64]
    kinds: NDArray[np.int8]
    names: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]
    event_ids: Texts | None = None


@record(frozen=True, slots=True)
class Chunk:
    """Rankings one after another, and their labels.

    Args:
        seqs: The numbers under which they are stored.
        times: When they were shown, in microseconds since 1970 in UTC.
        contexts: The numbers of what they have in common, as `Store.contexts` has them.
        ranking_ids: The offsets of their ids, and the ids in UTF-8, end to end.
        query_keys: Likewise, what repeats.
        user_ids: Likewise, who saw them.
        items: Their documents.
        labels: Their labels.
        event_ids: What they are known by, where that was asked for.
    """

    seqs: NDArray[np.int64]
    times: NDArray[np.int64]
    contexts: NDArray[np.int64]
    ranking_ids: Texts
    query_keys: Texts
    user_ids: Texts
    items: ItemColumns
    labels: LabelColumns
    event_ids: Texts | None = None
