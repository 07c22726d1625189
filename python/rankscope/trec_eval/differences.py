"""Tells where trec_eval prints a wrong number, or no number, or leaves something out in silence."""

from __future__ import annotations

import math
from itertools import pairwise

from rankscope.trec_eval.columns import NEGATIVE_GRADE, UNJUDGED, find_gains, rbp_scale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope.trec_eval.columns import Doubles
    from rankscope.trec_eval.evaluating import Evaluated
    from rankscope.trec_eval.requests import Options, Requested


def describe_differences(
    requests: Sequence[Requested],
    evaluated: Sequence[Evaluated],
    grades: Sequence[float],
    by_kernel: Mapping[str, Doubles],
    present: Sequence[int],
    *,
    options: Options,
) -> Iterator[str]:
    """Return what to tell about this evaluation."""
    names = {request.entry.name for request in requests}
    retrieved = [query for query, is_present in enumerate(present) if is_present]
    missing = len(present) - len(retrieved)
    if options.dialect == "10" and missing and not options.is_complete:
        yield f"trec_eval 10 stops at a judged query that isn't in the run; there are {missing}"
    for request in requests:
        if request.entry.name == "rbp":
            yield from _describe_rbp(request, [grade for grade in grades if grade >= 0])
    if "rbp_resid" in names:
        yield from _describe_residuals(by_kernel[repr(UNJUDGED)], retrieved)
    for name in names:
        columns = [one.columns[0] for one in evaluated if one.entry.name == name]
        if empty := _count_empty(columns, retrieved):
            yield f"{name} is -nan, as in trec_eval, for queries without a value: {empty}"
    if "num_rel" in names and options.is_complete and options.level != 1:
        yield "with -c, num_rel of all queries counts grades of 1 or more, as in trec_eval: not -l"
    for request in requests:
        if request.pairs and not request.entry.name.startswith("rbp"):
            yield from _describe_gains(request, grades)


def _describe_residuals(unjudged: Doubles, queries: Sequence[int]) -> Iterator[str]:
    """Return what to tell about lists of which all documents are judged."""
    if whole := sum(unjudged[query] == 0 for query in queries):
        yield (
            "rbp_resid is 0, as in trec_eval 10, for queries of which all retrieved documents "
            f"are judged: {whole}; RBPResidual of rankscope eval includes the ranks below the "
            "end of the list"
        )


def _count_empty(columns: Sequence[Doubles], queries: Sequence[int]) -> int:
    """Return how many queries lack a value in some column."""
    # Most columns are all numbers, which their sum tells faster than a look at each.
    lacking = [column for column in columns if math.isnan(sum(column))]
    return sum(any(math.isnan(column[query]) for column in lacking) for query in queries)


def _describe_rbp(request: Requested, grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about the scale of RBP."""
    by = "grades by the highest one of each query" if max(grades, default=0) > 1 else ""
    if request.has_gains:
        scale = rbp_scale(request, grades)
        by = f"gains by the highest one, {scale:g}" if scale > 1 else ""
    if by:
        yield f"rbp divides {by}; trec_eval 10 scales them by variables that are never set"


def _describe_gains(request: Requested, grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about gains of grades, for all grades that the judgments have."""
    gains = find_gains(request.pairs, [grade for grade in grades if grade >= 0])
    if any(0 < high - low < 1 for low, high in pairwise(sorted(gains.values()))):
        yield f"{request.name} has gains less than 1 apart, which trec_eval sorts wrongly"
    if min(grades, default=0) < 0 and any(
        float(name) == NEGATIVE_GRADE and gain > 0 for name, gain in request.pairs
    ):
        yield (
            f"{request.name} includes documents with a negative grade in the ideal list; trec_eval "
            "doesn't, so its values can be larger than 1"
        )
