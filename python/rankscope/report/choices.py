"""Explains the fields of a policy, one sentence each."""

from __future__ import annotations

from rankscope.data.policy import FIELDS
from rankscope.report.report import Choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.data import Policy

MEANINGS: dict[str, dict[str, str]] = {
    "ties": {
        "doc_id": "Of equal scores, the larger document id comes first, by bytes.",
        "doc_id_asc": "Of equal scores, the smaller document id comes first, by bytes.",
        "input": "Of equal scores, what was given first comes first.",
        "best": "Of equal scores, the larger grade comes first.",
        "worst": "Of equal scores, the smaller grade comes first.",
        "average": "Equal scores give the expected value over all their orders.",
    },
    "empty": {
        "zero": "A query for which a measure is undefined has the value 0.",
        "skip": "A query for which a measure is undefined is left out of the mean.",
        "one": "A query for which a measure is undefined has the value 1.",
        "nan": "A query for which a measure is undefined makes the mean undefined.",
        "error": "A query for which a measure is undefined is refused; there was none.",
    },
    "missing": {
        "zero": "A judged query that is not in the run counts as an empty list.",
        "skip": "A judged query that is not in the run is left out of the mean.",
        "error": "A judged query that is not in the run is refused; there was none.",
    },
    "unjudged": {
        "nonrelevant": "A retrieved document without a judgment has no gain.",
        "remove": "Documents without a judgment are removed from the list first.",
    },
    "unretrieved": {
        "count": "Judged documents that were not retrieved belong to the ideal list.",
        "ignore": "Judged documents that were not retrieved are taken for unknown.",
    },
    "negative": {
        "nonrelevant": "A negative grade has no gain.",
        "gain": "A negative grade has the gain that the gain function gives it.",
        "minmax": "A negative grade has its gain, and nDCG is taken between the worst order and "
        "the best.",
        "error": "A negative grade is refused; there was none.",
    },
    "aggregate": {
        "mean": "The values of the queries are averaged.",
        "ratio_of_sums": "Numerators and denominators are summed over the queries, then divided.",
        "geometric": "The values of the queries are averaged geometrically.",
        "harmonic": "The values of the queries are averaged harmonically.",
        "median": "The median of the values of the queries is taken.",
        "quantile": "A quantile of the values of the queries is taken.",
        "tail_mean": "The lowest values of the queries are averaged.",
    },
}


def explain_policy(policy: Policy) -> tuple[Choice, ...]:
    """Return a sentence about each field of a policy."""
    values = policy.to_dict()
    return tuple(
        Choice(field=field, value=_write(values[field]), meaning=_mean(field, values[field]))
        for field in FIELDS
    )


def _write(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _mean(field: str, value: object) -> str:
    if field == "missing_gain":
        gain = 0 if value is None else value
        return f"A rank down to the cutoff at which a list has no document has the gain {gain}."
    if field == "unjudged" and not isinstance(value, str):
        return f"A retrieved document without a judgment has the gain {value}."
    return MEANINGS[field][str(value).partition("(")[0]]
