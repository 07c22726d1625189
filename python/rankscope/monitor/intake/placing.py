"""Looks up whether the rankings of labels have their documents."""

from __future__ import annotations

from rankscope.errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope import _core
    from rankscope.monitor.store.store import StoreReader

LOOKED_UP = 20
"""So many labels of a batch are looked up, which finds ids that never match."""


def count_unshown(store: StoreReader, project: str, batch: _core.EventBatch) -> tuple[int, int]:
    """Count the first labels of a batch whose rankings are stored.

    Labels whose rankings come later, or are archived, are left out.
    """
    labels = batch.first_labels(LOOKED_UP)
    if not labels:
        return 0, 0
    names = list({ranking for ranking, _ in labels})
    try:
        documents = store.list_documents(project, names)
    except FileError:  # the labels are stored: what cannot be read is not their sender's concern
        return 0, 0
    are_shown = [doc in documents[ranking] for ranking, doc in labels if ranking in documents]
    return len(are_shown), are_shown.count(False)
