"""Tells where trec_eval prints a wrong number, or no number, or leaves something out in silence."""

from __future__ import annotations

import math
from itertools import pairwise

from rankscope.trec_eval.requests import POOLED, gain_table, rbp_scale
from rankscope.trec_eval.undefined import UNJUDGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.trec_eval.evaluating import Evaluated
    from rankscope.trec_eval.requests import Requested
    from rankscope.trec_eval.undefined import Known


def describe_differences(
    requests: Sequence[Requested], evaluated: Sequence[Evaluated], known: Known
) -> Iterator[str]:
    """Return what to tell about this evaluation."""
    options, found = known.options, known.found
    names = {request.entry.name for request in requests}
    grades = [grade for grade in known.grades if grade >= 0]
    missing = len(found.judged) - len(found.retrieved)
    if options.dialect == "10" and missing and not options.complete_rel_info_wanted:
        yield f"trec_eval 10 stops at a judged query that isn't in the run; there are {missing}"
    yield from _describe_rbp(requests, grades)
    if "rbp_resid" in names:
        unjudged = known.column(UNJUDGED)
        if whole := sum(unjudged[query] == 0 for query in found.retrieved):
            yield (
                "rbp_resid is 0, as in trec_eval 10, for queries of which all retrieved documents "
                f"are judged: {whole}; RBPResidual of rankscope eval includes the ranks below the "
                "end of the list"
            )
    for name in names:
        columns = [one.columns[0] for one in evaluated if one.entry.name == name]
        # Most columns are all numbers, which their sum tells faster than a look at each.
        lacking = [column for column in columns if math.isnan(sum(column))]
        empty = lacking and sum(
            any(math.isnan(column[query]) for column in lacking) for query in found.retrieved
        )
        if empty:
            yield f"{name} is -nan, as in trec_eval, for queries without a value: {empty}"
    if "num_rel" in names and options.complete_rel_info_wanted and options.level != 1:
        yield "with -c, num_rel of all queries counts grades of 1 or more, as in trec_eval: not -l"
    yield from _describe_gains(requests, known.grades)


def _describe_rbp(requests: Sequence[Requested], grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about the scale of RBP."""
    for request in requests:
        if request.entry.name != "rbp":
            continue
        by = "grades by the highest one of each query" if max(grades, default=0) > 1 else ""
        if request.has_gains:
            scale = rbp_scale(request, grades)
            by = f"gains by the highest one, {scale:g}" if scale > 1 else ""
        if by:
            yield f"rbp divides {by}; trec_eval 10 scales them by variables that are never set"


def _describe_gains(requests: Sequence[Requested], every: Sequence[float]) -> Iterator[str]:
    """Return what to tell about gains of grades, for all grades that the judgments have."""
    grades = [grade for grade in every if grade >= 0]
    for one in requests:
        if not one.pairs or one.entry.name.startswith("rbp"):
            continue
        gains = sorted(gain_table(one, grades).gains.values())
        if any(0 < high - low < 1 for low, high in pairwise(gains)):
            yield f"{one.name} has gains less than 1 apart, which trec_eval sorts wrongly"
        if any(float(name) == POOLED and gain > 0 for name, gain in one.pairs) and (
            min(every, default=0) < 0
        ):
            yield (
                f"{one.name} includes documents with a negative grade in the ideal list; trec_eval "
                "doesn't, so its values can be larger than 1"
            )
