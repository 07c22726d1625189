"""Makes regrets of the core's answer: by document, by an attribute of documents, by rank."""

from __future__ import annotations

from collections import Counter

from rankscope.results import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

MISSING = "<missing>"
"""The value of documents for which none is given."""


def group_regrets(
    doc_ids: Sequence[str | None],
    ranks: NDArray[np.int64],
    regrets: NDArray[np.float64],
    by: Mapping[str, object],
) -> Table:
    """Add up the regrets of documents by an attribute, the largest first.

    Args:
        doc_ids: The documents.
        ranks: Their ranks; 0 where they were not retrieved.
        regrets: Their shares of what the mean lacks.
        by: The attribute of each document.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    values = [MISSING if doc is None else str(by.get(doc, MISSING)) for doc in doc_ids]
    sizes = Counter(values)
    codes = {value: code for code, value in enumerate(sizes)}
    of_rows = np.array([codes[value] for value in values], dtype=np.int64)
    sums = np.bincount(of_rows, regrets, len(codes))
    unretrieved = np.bincount(of_rows, ranks == 0, len(codes)).astype(np.int64)
    order = np.argsort(-sums, kind="stable")
    names = list(codes)
    return Table(
        {
            "attribute": [names[at] for at in order.tolist()],
            "documents": np.array(list(sizes.values()), dtype=np.int64)[order],
            "unretrieved": unretrieved[order],
            "regret": sums[order],
        }
    )
