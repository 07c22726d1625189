"""The table of measures, in the order in which they are listed."""

from __future__ import annotations

from rankscope.measures import binary, graded, items, users
from rankscope.measures.spec import ROWS, Measure, Row, default_measure

FAMILIES: dict[str, tuple[str, tuple[Row, ...]]] = {
    "gain": (
        "Measures that add up the gains of documents, mostly discounted by rank.",
        graded.GAIN_ROWS,
    ),
    "loss": ("Three losses that add up to 1 − nDCG.", graded.LOSS_ROWS),
    "binary": (
        "Measures with binary relevance: a document is either relevant or not.",
        binary.BINARY_ROWS,
    ),
    "experimental": (
        "Measures between average precision and nDCG that trec_eval calls experimental.",
        graded.EXPERIMENTAL_ROWS,
    ),
    "sets": (
        "Measures of the retrieved documents as a set, regardless of their order.",
        binary.SETS_ROWS,
    ),
    "judged": (
        "Measures for incomplete judgments: unjudged differs from judged not relevant.",
        graded.JUDGED_ROWS,
    ),
    "sampled": (
        "Measures estimated from judgments of a random sample of each stratum.",
        graded.SAMPLED_ROWS,
    ),
    "cascade": (
        "Measures that model a user who reads from the top and may stop at each document.",
        users.CASCADE_ROWS,
    ),
    "cwl": (
        "Measures of the C/W/L framework: how a user reads on from each rank to the next.",
        users.CWL_ROWS,
    ),
    "expected_exposure": (
        "Expected exposure: how evenly relevant documents get the attention of users.",
        users.EXPECTED_EXPOSURE_ROWS,
    ),
    "agreement": (
        "Measures of how far the order of a list agrees with the best one.",
        graded.AGREEMENT_ROWS,
    ),
    "diversity": (
        "Measures of diversity, which need judgments by subtopic.",
        items.DIVERSITY_ROWS,
    ),
    "auc": (
        "Pairs of a relevant and a nonrelevant document that are in the right order.",
        binary.AUC_ROWS,
    ),
    "items": (
        "Recommended items of each user: novelty, popularity, diversity and calibration.",
        items.ITEMS_ROWS,
    ),
    "exposure": (
        "All lists together: how many items they show, how evenly, and how much they differ.",
        items.EXPOSURE_ROWS,
    ),
    "count": (
        "Counts of documents and queries, which are summed up over queries.",
        binary.COUNT_ROWS,
    ),
}
"""What a family of measures has in common, and its rows, by the name of its file in the core."""

TABLE = ROWS
TABLE |= {row.name: row for _, rows in FAMILIES.values() for row in rows}


def measure(name: str) -> Measure:
    """Return the measure of a row, with the default of every parameter."""
    return default_measure(TABLE[name])
