"""The table of signals: what each one says of a ranking, or of the rankings of a day."""

from __future__ import annotations

import json
from hashlib import sha256

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope.monitor.definition.configuration import Configuration

    Suspicious: TypeAlias = Literal["rise", "fall", "both"]
    Needs: TypeAlias = Literal["", "scores", "query keys"]
    Grain: TypeAlias = Literal["hour", "day"]

RULE = 1
"""The version of the computation; a change of any value raises it."""
REFERENCE_DAYS = 7
"""A day is compared with what the same model showed on so many days before it."""
TOP = 10
"""The first documents that `unseen` and `missing` look at."""
DEPTH = 100
"""The first documents that `overlap` and `reordered` look at."""
PERSISTENCE = 0.9
"""The persistence of rank-biased overlap."""


@record(frozen=True, slots=True, kw_only=True)
class Signal:
    """A number about rankings that is known as soon as they are shown.

    Args:
        name: Its name, as columns have it.
        label: What people call it.
        unit: `share` for a number from 0 to 1, otherwise what it counts in.
        says: What it says, in one sentence.
        suspicious: Which change may mean that something is wrong.
        least: The smallest change that matters.
        needs: What has to be logged for it; empty where a ranking is enough.
        grain: Whether it is the mean over rankings of each hour, or one number a day.
    """

    name: str
    label: str
    unit: str
    says: str
    suspicious: Suspicious
    least: float
    needs: Needs = ""
    grain: Grain = "hour"


SIGNALS = (
    Signal(
        name="length",
        label="List length",
        unit="share",
        says="Documents shown, divided by the median length of the model's lists in the 7 days "
        "before; at most 1, and lists without documents don't count in the median.",
        suspicious="fall",
        least=0.05,
    ),
    Signal(
        name="no_results",
        label="Empty results",
        unit="share",
        says="Whether no document was shown: 1 for an empty list, otherwise 0.",
        suspicious="rise",
        least=0.02,
    ),
    Signal(
        name="tied",
        label="Tied scores",
        unit="share",
        says="Share of neighboring documents that have the same score.",
        suspicious="rise",
        least=0.05,
        needs="scores",
    ),
    Signal(
        name="constant",
        label="Constant scores",
        unit="share",
        says="Whether all scores of a list are the same: 1 or 0, for lists with at least two "
        "scores.",
        suspicious="rise",
        least=0.02,
        needs="scores",
    ),
    Signal(
        name="ascending",
        label="Scores out of order",
        unit="share",
        says="Share of neighboring documents of which the lower one has the higher score, so that "
        "the order isn't that of the scores.",
        suspicious="both",
        least=0.05,
        needs="scores",
    ),
    Signal(
        name="score_rank",
        label="Level of scores",
        unit="share",
        says="Share of the model's scores of the 7 days before that are lower than a score of the "
        "list, half of those that are equal included: the mean over the list. Usually about 0.5.",
        suspicious="both",
        least=0.05,
        needs="scores",
    ),
    Signal(
        name="unseen",
        label="New documents",
        unit="share",
        says="Share of the first 10 documents that the model didn't show in the 7 days before, in "
        "the same slice. In a slice by two attributes, a document is new if it is in the slice "
        "of one of them.",
        suspicious="rise",
        least=0.05,
    ),
    Signal(
        name="overlap",
        label="Overlap with the earlier list",
        unit="share",
        says="Rank-biased overlap (p = 0.9, extrapolated, first 100 documents) with the last list "
        "that the same query key had on the 7 days before.",
        suspicious="fall",
        least=0.05,
        needs="query keys",
    ),
    Signal(
        name="reordered",
        label="Reordered pairs",
        unit="share",
        says="Share of the pairs of documents in both this list and the earlier one (first 100 "
        "documents of each) that are in the opposite order.",
        suspicious="rise",
        least=0.05,
        needs="query keys",
    ),
    Signal(
        name="missing",
        label="Documents gone",
        unit="share",
        says="Share of the first 10 documents of the earlier list that this list doesn't show.",
        suspicious="rise",
        least=0.05,
        needs="query keys",
    ),
    Signal(
        name="popular",
        label="Exposure of popular documents",
        unit="share",
        says="Share of a list's exposure (1 / log2(1 + rank) for each document) that goes to the "
        "1 % of documents with the most exposure in the 7 days before.",
        suspicious="both",
        least=0.05,
    ),
    Signal(
        name="gini",
        label="Concentration of exposure",
        unit="share",
        says="Gini coefficient of the exposure of the documents shown that day: 0 if all have the "
        "same, close to 1 if few have nearly all.",
        suspicious="both",
        least=0.05,
        grain="day",
    ),
    Signal(
        name="coverage",
        label="Coverage of the catalog",
        unit="ratio",
        says="Different documents shown that day, divided by those that the model showed on the 7 "
        "days before.",
        suspicious="fall",
        least=0.05,
        grain="day",
    ),
    Signal(
        name="score_distance",
        label="Distance of scores",
        unit="standard deviations",
        says="Wasserstein distance between the scores of the day and the model's scores of the 7 "
        "days before, in standard deviations of the latter.",
        suspicious="rise",
        least=0.2,
        needs="scores",
        grain="day",
    ),
    *(
        Signal(
            name=f"score_{percent:02}",
            label=f"Scores, {percent} % quantile",
            unit="score",
            says=f"The score that {percent} % of the scores of the day are at most.",
            suspicious="both",
            least=0.0,
            needs="scores",
            grain="day",
        )
        for percent in (5, 25, 50, 75, 95)
    ),
)
"""All signals, in the order of the columns of their cells."""

NAMES = tuple(signal.name for signal in SIGNALS)
HOURLY = tuple(signal.name for signal in SIGNALS if signal.grain == "hour")
DAILY = tuple(signal.name for signal in SIGNALS if signal.grain == "day")


def digest(configuration: Configuration) -> bytes:
    """Return the 16 bytes that identify the stored signals of a project."""
    said = {
        "signals": RULE,
        "attributes": configuration.attributes,
        "pairs": configuration.all_pairs,
        "most": configuration.most,
    }
    return sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]
