"""Pairs of a relevant and a nonrelevant document that are in the right order."""

from __future__ import annotations

from rankscope.measures.spec import Example, Row
from rankscope.measures.table.parameters import REL, REQUIRED_K, K
from rankscope.records import replace

PAP = (
    "Budhiraja and others, Rich-item recommendations for rich-users: "
    "exploiting dynamic and static side information, 2020, arXiv:2001.10495"
)
RECTOOLS = "RecTools, class {}, which is equal with `insufficient_handling='ignore'`"
NEGATIVES = replace(
    K,
    meaning="How many nonrelevant documents count: the first k of the list (default: all of them).",
)
REQUIRED_NEGATIVES = replace(
    REQUIRED_K, meaning="How many nonrelevant and how many relevant documents count at most."
)
COUNTED = r"\sum_{r\, :\, b_r = 1} \max(0, N_k - n_r)"

ROWS = (
    Row(
        name="AUC",
        kernel="auc",
        parameters=(NEGATIVES, REL),
        formula=r"\mathrm{AUC@}k = \frac{" + COUNTED + r"}{N_k\, R}",
        definition="The share of all pairs of a relevant document and one of the first k "
        "nonrelevant documents of the list in which the relevant one is higher. Unjudged documents "
        "are nonrelevant, and relevant documents that weren't retrieved are below all others. The "
        "list must be long enough to have k nonrelevant documents: those that are missing count as "
        "if they were at its end.",
        undefined="Undefined if there is no relevant document, or if there is no cutoff and no "
        "nonrelevant document was retrieved.",
        references=(PAP, RECTOOLS.format("PartialAUC")),
        aliases=("PartialAUC", "pAUC"),
        claims=frozenset({"swap_monotone", "binary"}),
        example=Example(
            "AUC@2",
            ranking=(1, None, 1, 0),
            not_retrieved=(1,),
            formula="(2 + 1) / (2 * 3)",
            value=0.5,
        ),
    ),
    Row(
        name="PAP",
        kernel="pap",
        parameters=(REQUIRED_NEGATIVES, REL),
        formula=r"\mathrm{PAP@}k = \frac{" + COUNTED + r"}{k \min(k, R)}",
        definition="Like AUC, but only the first k relevant documents count, so it is about "
        "precision where there are more than k, and AUC where there are fewer.",
        undefined="Undefined if there is no relevant document.",
        references=(PAP, RECTOOLS.format("PAP")),
        aliases=("pAp",),
        claims=frozenset({"swap_monotone", "binary"}),
        example=Example(
            "PAP@2",
            ranking=(1, None, 1, 0),
            not_retrieved=(1,),
            formula="(2 + 1) / (2 * 2)",
            value=0.75,
        ),
    ),
)
