"""The table of signals: what each one says of a ranking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from rankscope.monitor.definition.configuration import Configuration

Suspicious: TypeAlias = Literal["rise", "fall", "both"]
Needs: TypeAlias = Literal["", "scores", "query keys"]


RULE = 3
"""The version of the computation; a change of any value raises it."""
REFERENCE_DAYS = 7
"""A day is compared with what the same model showed on so many days before it."""
TOP = 10
"""The first documents that `unseen` looks at."""
DEPTH = 100
"""The first documents that `overlap` looks at."""
PERSISTENCE = 0.9
"""The persistence of rank-biased overlap."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A number from 0 to 1 about a ranking that is known as soon as it is shown.

    Args:
        name: Its name, as columns have it.
        label: What people call it.
        says: What it says.
        suspicious: Which change may mean that something is wrong.
        least: The smallest change that matters.
        needs: What has to be logged for it; empty where a ranking is enough.
    """

    name: str
    label: str
    says: str
    suspicious: Suspicious
    least: float = 0.05
    needs: Needs = ""


SIGNALS = (
    Signal(
        "length",
        "List length",
        "Documents shown, divided by the median length of the model's lists in the 7 days before; "
        "at most 1, and lists without documents don't count in the median.",
        "fall",
    ),
    Signal(
        "no_results",
        "Empty results",
        "Whether no document was shown: 1 for an empty list, otherwise 0.",
        "rise",
        0.02,
    ),
    Signal(
        "tied",
        "Tied scores",
        "Share of neighboring documents that have the same score.",
        "rise",
        needs="scores",
    ),
    Signal(
        "constant",
        "Constant scores",
        "Whether all scores of a list are the same: 1 or 0, for lists with at least two scores.",
        "rise",
        0.02,
        needs="scores",
    ),
    Signal(
        "ascending",
        "Scores out of order",
        "Share of neighboring documents of which the lower one has the higher score, so that the "
        "order isn't that of the scores.",
        "both",
        needs="scores",
    ),
    Signal(
        "score_rank",
        "Level of scores",
        "Share of the model's scores of the 7 days before that are lower than a score of the list, "
        "and half of those that are equal: the mean over the list. Usually about 0.5.",
        "both",
        needs="scores",
    ),
    Signal(
        "unseen",
        "New documents",
        "Share of the first 10 documents that the model didn't show in the 7 days before, in the "
        "same slice. In a slice by two attributes, a document is new if it is new in the slice of "
        "one of them.",
        "rise",
    ),
    Signal(
        "overlap",
        "Overlap with the earlier list",
        "Rank-biased overlap (p = 0.9, extrapolated, first 100 documents of each) with the last "
        "list that the same query key had in the 7 days before.",
        "fall",
        needs="query keys",
    ),
)
"""All signals, in the order of the columns of their cells."""

NAMES = tuple(signal.name for signal in SIGNALS)


def digest(configuration: Configuration) -> bytes:
    """Return the 16 bytes that identify the stored signals of a project."""
    said = {
        "signals": RULE,
        "attributes": configuration.attributes,
        "bins": configuration.bins,
        "pairs": configuration.all_pairs,
        "most": configuration.most,
        "left_out": configuration.definition.left_out,
    }
    return sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]
