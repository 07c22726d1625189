"""One ranking and its labels as a chunk, for what works on columns."""

from __future__ import annotations

from rankscope.monitor.events import LABEL_KINDS
from rankscope.monitor.store.chunks import Chunk, LabelColumns
from rankscope.monitor.store.packing import offsets_of, pack, unpack_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events import Label, Ranking
    from rankscope.monitor.store.packing import Texts


def take_alone(ranking: Ranking, labels: Sequence[Label]) -> Chunk:
    """Make a chunk of one ranking.

    Args:
        ranking: The ranking; its context has the number 0.
        labels: Its labels, in the order in which they count.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    said = list(dict.fromkeys(label.labels for label in labels))
    count = len(labels)
    return Chunk(
        np.zeros(1, dtype=np.int64),
        np.array([ranking.time], dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        _join([ranking.ranking_id]),
        _join([ranking.query_key]),
        _join([ranking.user_id]),
        unpack_columns([pack(ranking.items)]),
        LabelColumns(
            np.zeros(count, dtype=np.int64),
            _join([label.doc_id for label in labels]),
            np.array([label.time for label in labels], dtype=np.int64),
            np.array([LABEL_KINDS.index(label.kind) for label in labels], dtype=np.int8),
            tuple(said),
            np.array([said.index(label.labels) for label in labels], dtype=np.int64),
            np.array(
                [np.nan if label.value is None else label.value for label in labels],
                dtype=np.float64,
            ),
        ),
    )


def _join(texts: list[str]) -> Texts:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    encoded = [text.encode() for text in texts]
    sizes = np.array([len(one) for one in encoded], dtype=np.int64)
    return offsets_of(sizes), np.frombuffer(b"".join(encoded), np.uint8)
