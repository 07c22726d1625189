"""What several rows say in the same words."""

from __future__ import annotations

from rankscope.conventions.spec import Limit

LISTS_ONLY = "It sees the retrieved documents only; one without a judgment has grade 0."
UNKNOWN = {"unretrieved": "ignore"}
"""The policy of what sees lists of labels only."""

LOG_CANCELS = "Its discount is 1/ln(rank + 1), whose base cancels."
NO_NEGATIVE = Limit(
    "adds the gains of negative grades to its ideal, which has no counterpart here", least=0
)
