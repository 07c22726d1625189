"""Ours beside what a library said: the same numbers, but for ties left to chance and known bugs."""

from __future__ import annotations

import math

import rankscope

from tests.parity.bugs import KNOWN_BUGS

# Peers add up in other orders than we do, and some in single precision.
TOLERANCE = {"float64": 1e-12, "float32": 1e-6}


def compare(golden, name, case):
    """Fail at the first value of a case that differs."""
    for measure, answer in golden.cases[name].items():
        ours = evaluate(golden, name, case, measure)
        chance = {query for query, row in case.run.items() if golden.is_arbitrary(measure, row)}
        bugs = {query for query in case.qrels if is_touched(golden.said, measure, case, query)}
        for query, theirs in by_query(case, answer).items():
            where = f"{measure} of {query}: ours {ours[query]!r}, theirs {theirs!r}"
            if theirs is None:
                assert math.isnan(ours[query]) or golden.refuses(name, measure, query), where
            elif query not in chance | bugs:
                assert is_close(golden, ours[query], theirs), where
        if answer.mean is not None and not chance | bugs:
            mean = average(golden, case, ours)
            assert is_close(golden, mean, answer.mean), f"{measure}: ours {mean!r}, {answer}"


def compare_chance(golden, name, case):
    """Fail where equal scores in an order left to chance give what no order of them gives."""
    for measure, answer in golden.cases[name].items():
        # Over those that were found, AP falls where one more is found further down.
        if (golden.convention, measure.partition("@")[0]) == ("torchmetrics", "AP"):
            continue
        worst, best = (
            evaluate(golden, name, case, measure, ties=ties) for ties in ("worst", "best")
        )
        for query, theirs in by_query(case, answer).items():
            if golden.is_arbitrary(measure, case.run.get(query, {})) and theirs is not None:
                where = f"{measure} of {query}: {theirs!r}"
                assert worst[query] <= theirs or is_close(golden, worst[query], theirs), where
                assert theirs <= best[query] or is_close(golden, best[query], theirs), where


def evaluate(golden, name, case, measure, *, ties=""):
    """Our values of a case under the convention, or with equal scores in another order."""
    ours = rankscope.evaluate(
        case.qrels,
        case.run,
        measure,
        convention=golden.convention,
        policy=golden.options.get(name),
    )
    if ties:
        policy = rankscope.Policy(**{**ours.policy.to_dict(), "ties": ties})
        ours = rankscope.evaluate(case.qrels, case.run, ours.measures, policy=policy)
        (measure,) = (mine.name for mine in ours.measures)
    return dict(zip(case.qrels, ours.per_query_list(measure), strict=True))


def average(golden, case, values):
    """The mean of our values, over the queries of which the library takes it."""
    if golden.mean_over == "run":
        return math.fsum(values[query] for query in case.qrels if query in case.run) / len(case.run)
    known = [value for value in values.values() if not math.isnan(value)]
    return math.fsum(known) / len(known)


def by_query(case, answer):
    """What the library said of each query; nothing where it gives means only."""
    if answer.per_query is None:
        return {}
    return dict(zip(case.qrels, answer.per_query, strict=True))


def is_touched(said, measure, case, query):
    """Whether a bug that is not repeated can change the value of a query."""
    bugs = (bug for bug in KNOWN_BUGS if said in bug.said)
    return any(bug.changes(measure, case, query) for bug in bugs)


def is_close(golden, ours, theirs):
    """Whether two values are equal but for the order in which terms were added."""
    tolerance = TOLERANCE[golden.precision]
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
