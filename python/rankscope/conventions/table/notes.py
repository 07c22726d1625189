"""The notes that several conventions share."""

from __future__ import annotations

from rankscope.conventions.spec import Limit

LISTS_ONLY = "It only sees the retrieved documents. Documents without a judgment have grade 0."
UNKNOWN = {"unretrieved": "ignore"}
"""The policy of libraries that only see lists of labels."""

LOG_CANCELS = "Its discount is 1/ln(rank + 1). The base cancels."
NO_NEGATIVE = Limit(
    "adds the gains of negative grades to its ideal, which rankscope doesn't reproduce", least=0
)
