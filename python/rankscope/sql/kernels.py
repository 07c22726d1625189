"""The value of each measure as an expression over sums; null where it is undefined.

The operations and their order are those of the definitions in `tests/reference`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rankscope.measures import Measure
from rankscope.sql.plan import (
    Lists,
    Plan,
    as_double,
    number,
    refuse_measure,
    refuse_parameter,
    setting,
    within,
)

Kernel: TypeAlias = Callable[[Plan, Measure], str]


SMOOTHING = "CAST('1e-05' AS DOUBLE PRECISION)"
TWICE_SMOOTHING = "CAST('2e-05' AS DOUBLE PRECISION)"


def write_value(plan: Plan, measure: Measure) -> str:
    """Return the expression of a measure, and add what it needs to the plan."""
    if measure.row.function is not None:
        raise refuse_measure(measure, "it is a Python function")
    measure.kernel_spec(grades=(), depth=1 if measure.k is None else None)
    kernel = measure.row.kernel
    if measure.row.mean == "geometric":
        raise refuse_measure(measure, "a geometric mean has no exact sum")
    if measure.row.subtopics:
        raise refuse_measure(measure, "the judgments of SQL have no subtopics")
    if measure.row.of_items:
        why = "it depends on which items are recommended, and the statements read grades only"
        raise refuse_measure(measure, why)
    if kernel not in KERNELS:
        raise refuse_measure(measure, REFUSED.get(kernel, "no expression is written for it"))
    return KERNELS[kernel](plan, measure)


def _cg(plan: Plan, measure: Measure) -> str:
    return plan.finite(plan.lists(measure).add_up("cg", within(measure.k), plan.gain(measure)))


def _dcg(plan: Plan, measure: Measure) -> str:
    lists, gain = plan.lists(measure), plan.gain(measure)
    lists.needs_discounts = True
    dcg = lists.add_up("dcg", within(measure.k), plan.discount(measure, gain))
    plan.limit_depth(lists.sums, "depth", f"CASE WHEN {gain} <> 0 THEN list_rank END", measure.k)
    return plan.finite(dcg)


def _idcg(plan: Plan, measure: Measure) -> str:
    kind = measure.parameters["ideal"]
    if kind == "slots":
        raise refuse_parameter(measure, "ideal", "'slots', which no judgments make")
    table = "rs_seen" if plan.policy.unretrieved == "ignore" else "rs_judged"
    if kind == "retrieved":
        table = plan.lists(measure).table
    sums = plan.ideal(table, plan.gain(measure))
    k = None if kind == "whole" else measure.k
    case = f"CASE WHEN {within(k, 'ideal_rank')} THEN {plan.discount(measure, 'gain')} END"
    idcg = sums.add("idcg", f"SUM({case} ORDER BY ideal_rank)")
    plan.limit_depth(sums, "ideal_depth", "ideal_rank", k)
    return plan.finite(idcg)


def _ndcg(plan: Plan, measure: Measure) -> str:
    dcg, best = _dcg(plan, measure), _idcg(plan, measure)
    return f"CASE WHEN {best} > 0 THEN {dcg} / {best} END"


def _ap(plan: Plan, measure: Measure) -> str:
    lists, is_relevant = plan.lists(measure), _is_relevant(measure)
    precision = f"{as_double(lists.count_down_to('relevant_so_far', is_relevant))} / list_rank"
    condition = f"{is_relevant} AND {within(measure.k)}"
    total = lists.add_up("sum_of_precision", condition, precision)
    return _divide(plan, measure, total)


def _rr(plan: Plan, measure: Measure) -> str:
    condition = f"{_is_relevant(measure)} AND {within(measure.k)}"
    first_rank = f"MIN(CASE WHEN {condition} THEN list_rank END)"
    first = plan.lists(measure).sums.add("first_relevant", first_rank)
    reciprocal = f"CASE WHEN {first} > 0 THEN {as_double('1')} / {first} ELSE 0 END"
    return _defined(plan, measure, reciprocal)


def _share_of(plan: Plan, measure: Measure) -> str:
    return _divide(plan, measure, as_double(_hits(plan, measure)))


def _rprec(plan: Plan, measure: Measure) -> str:
    lists, relevant = plan.lists(measure), plan.relevant(measure)
    lists.needs_totals = True
    multiple = setting(measure, "multiple")
    rank = relevant if multiple == 1 else _round_up(multiple, relevant)
    hits = lists.count("hits_at_r", f"{_is_relevant(measure)} AND list_rank <= {rank}")
    share = f"CASE WHEN {rank} > 0 THEN {as_double(hits)} / {rank} ELSE 0 END"
    return _defined(plan, measure, share)


def _success(plan: Plan, measure: Measure) -> str:
    hits = _hits(plan, measure)
    return _defined(plan, measure, as_double(f"CASE WHEN {hits} > 0 THEN 1 ELSE 0 END"))


def _f(plan: Plan, measure: Measure) -> str:
    hits, relevant = as_double(_hits(plan, measure)), plan.relevant(measure)
    mean = _harmonic(measure, f"({hits} / {measure.k})", f"({hits} / {relevant})")
    return _defined(plan, measure, mean)


def _iprec(plan: Plan, measure: Measure) -> str:
    lists, relevant = plan.lists(measure), plan.relevant(measure)
    is_relevant = _is_relevant(measure)
    lists.needs_totals = True
    hits = lists.count_down_to("relevant_so_far", is_relevant)
    up = 0.9 if measure.parameters["rounding"] == "up" else 0.5
    enough = _round_up(setting(measure, "recall"), relevant, up)
    case = f"CASE WHEN {is_relevant} AND {hits} >= {enough} THEN {as_double(hits)} / list_rank END"
    highest = lists.sums.add("highest_precision", f"MAX({case})")
    return _defined(plan, measure, highest)


def _round_up(share: float, relevant: str, up: float = 0.9) -> str:
    """Return a share of the relevant documents as a whole number."""
    return f"FLOOR({as_double(number(share))} * {relevant} + {number(up)})"


def _set_precision(plan: Plan, measure: Measure) -> str:
    if not measure.parameters["relative"]:
        return _defined(plan, measure, _precision_of_set(plan, measure))
    most = _smaller(_shown(plan.lists(measure), measure.k), plan.relevant(measure))
    share = f"{as_double(_hits(plan, measure))} / {most}"
    return _defined(plan, measure, f"(CASE WHEN {most} > 0 THEN {share} ELSE 0 END)")


def _set_recall(plan: Plan, measure: Measure) -> str:
    hits = as_double(_hits(plan, measure))
    return _defined(plan, measure, f"{hits} / {plan.relevant(measure)}")


def _set_f(plan: Plan, measure: Measure) -> str:
    precision = _precision_of_set(plan, measure)
    recall = f"({as_double(_hits(plan, measure))} / {plan.relevant(measure)})"
    return _defined(plan, measure, _harmonic(measure, precision, recall))


def _set_ap(plan: Plan, measure: Measure) -> str:
    hits, retrieved = _hits(plan, measure), _shown(plan.lists(measure), None)
    whole = f"({retrieved} * {plan.relevant(measure)})"
    product = f"CASE WHEN {retrieved} > 0 THEN {as_double(f'{hits} * {hits}')} / {whole} ELSE 0 END"
    return _defined(plan, measure, product)


def _bpref(plan: Plan, measure: Measure) -> str:
    lists, relevant = plan.lists(measure), plan.relevant(measure)
    lists.needs_totals = True
    is_relevant, level = _is_relevant(measure), number(setting(measure, "rel"))
    is_nonrelevant = f"grade >= 0 AND grade < {level}"
    nonrelevant = plan.totals.add("nonrelevant", f"COUNT(CASE WHEN {is_nonrelevant} THEN 1 END)")
    above = lists.count_down_to("nonrelevant_above", is_nonrelevant)
    below = f"{as_double(_smaller(above, relevant))} / {_smaller(nonrelevant, relevant)}"
    preference = f"CASE WHEN {above} = 0 THEN {as_double('1')} ELSE 1 - {below} END"
    total = lists.add_up("sum_of_preferences", is_relevant, preference)
    return _defined(plan, measure, f"{total} / {relevant}")


def _infap(plan: Plan, measure: Measure) -> str:
    lists = plan.lists(measure)
    is_relevant, level = _is_relevant(measure), number(setting(measure, "rel"))
    hits = f"({lists.count_down_to('relevant_so_far', is_relevant)} - 1)"
    nonrelevant = lists.count_down_to("nonrelevant_above", f"grade >= 0 AND grade < {level}")
    pooled = lists.count_down_to("pooled_above", "grade < 0")
    above = as_double("list_rank - 1")
    in_pool = f"({as_double(f'{hits} + {nonrelevant} + {pooled}')} / {above})"
    in_judged = f"(({hits} + {SMOOTHING}) / ({hits} + {nonrelevant} + {TWICE_SMOOTHING}))"
    expected = f"{as_double('1')} / list_rank + ({above} / list_rank) * {in_pool} * {in_judged}"
    expected = f"CASE WHEN list_rank = 1 THEN {as_double('1')} ELSE {expected} END"
    total = lists.add_up("sum_of_expected_precision", is_relevant, expected)
    return _defined(plan, measure, f"{total} / {plan.relevant(measure)}")


def _judged(plan: Plan, measure: Measure) -> str:
    lists = plan.lists(measure)
    judged = lists.count("judged", f"grade IS NOT NULL AND {within(measure.k)}")
    shown = _shown(lists, measure.k)
    return f"CASE WHEN {shown} > 0 THEN {as_double(judged)} / {shown} ELSE 0 END"


def _rbp(plan: Plan, measure: Measure) -> str:
    p, lists = setting(measure, "p"), plan.lists(measure)
    lists.needs_discounts = True
    is_graded = measure.parameters["graded"]
    max_grade = measure.parameters["max_grade"]
    if max_grade == "query":
        raise refuse_parameter(measure, "max_grade", "the highest grade of each query")
    scale = "" if max_grade is None else f" / {number(setting(measure, 'max_grade'))}"
    gained = "grade > 0" if is_graded else _is_relevant(measure)
    weights = [1.0]
    for _ in range(1, plan.reach(measure.k)):
        weights.append(weights[-1] * p)
    weight = plan.tabulate("chance", p, weights)
    gain = f"grade{scale} * {weight}" if is_graded else weight
    total = lists.add_up("rbp", f"{gained} AND {within(measure.k)}", gain)
    plan.limit_depth(lists.sums, "depth", f"CASE WHEN {gained} THEN list_rank END", measure.k)
    judged = plan.totals.add("with_gain", f"COUNT(CASE WHEN {gained} THEN 1 END)")
    return f"CASE WHEN {judged} > 0 THEN {total} * {as_double(number(1 - p))} END"


def _num_ret(plan: Plan, measure: Measure) -> str:
    if measure.parameters["rel"] is None:
        return as_double(_shown(plan.lists(measure), measure.k))
    return as_double(_hits(plan, measure))


def _num_rel(plan: Plan, measure: Measure) -> str:
    return as_double(plan.relevant(measure))


def _num_nonrel_ret(plan: Plan, measure: Measure) -> str:
    condition = f"grade >= 0 AND NOT ({_is_relevant(measure)})"
    return as_double(plan.lists(measure).count("nonrelevant", condition))


def _num_q(_plan: Plan, _measure: Measure) -> str:
    return as_double("1")


def _is_relevant(measure: Measure) -> str:
    return f"grade >= {number(setting(measure, 'rel'))}"


def _hits(plan: Plan, measure: Measure) -> str:
    condition = f"{_is_relevant(measure)} AND {within(measure.k)}"
    return plan.lists(measure).count("hits", condition)


def _shown(lists: Lists, k: int | None) -> str:
    retrieved = lists.count("retrieved", "list_rank > 0")
    return retrieved if k is None else _smaller(retrieved, str(min(k, 2**53)))


def _precision_of_set(plan: Plan, measure: Measure) -> str:
    retrieved = _shown(plan.lists(measure), measure.k)
    hits = as_double(_hits(plan, measure))
    return f"(CASE WHEN {retrieved} > 0 THEN {hits} / {retrieved} ELSE 0 END)"


def _smaller(first: str, second: str) -> str:
    return f"(CASE WHEN {first} < {second} THEN {first} ELSE {second} END)"


def _harmonic(measure: Measure, precision: str, recall: str) -> str:
    beta = setting(measure, "beta")
    weight, more = as_double(number(beta * beta)), as_double(number(1 + beta * beta))
    mean = f"{more} * {precision} * {recall} / ({weight} * {precision} + {recall})"
    return f"CASE WHEN {precision} + {recall} = 0 THEN 0 ELSE {mean} END"


def _defined(plan: Plan, measure: Measure, expression: str) -> str:
    """Return an expression that is null for a query without relevant documents."""
    return f"CASE WHEN {plan.relevant(measure)} > 0 THEN {expression} END"


def _divide(plan: Plan, measure: Measure, total: str) -> str:
    """Return a sum divided by the denominator of the measure, 0 where that is 0."""
    relevant, by, k = plan.relevant(measure), measure.parameters["denominator"], measure.k
    if by in {"retrieved", "found"}:
        count = _shown(plan.lists(measure), k) if by == "retrieved" else _hits(plan, measure)
        return _defined(plan, measure, f"CASE WHEN {count} > 0 THEN {total} / {count} ELSE 0 END")
    divisor = str(k) if by == "cutoff" else relevant
    if by == "reachable" and k is not None:
        divisor = _smaller(relevant, str(min(k, 2**53)))
    return _defined(plan, measure, f"{total} / {divisor}")


KERNELS: dict[str, Kernel] = {
    "ap": _ap,
    "bpref": _bpref,
    "cg": _cg,
    "dcg": _dcg,
    "f": _f,
    "idcg": _idcg,
    "infap": _infap,
    "iprec": _iprec,
    "judged": _judged,
    "ndcg": _ndcg,
    "num_nonrel_ret": _num_nonrel_ret,
    "num_q": _num_q,
    "num_rel": _num_rel,
    "num_ret": _num_ret,
    "precision": _share_of,
    "rbp": _rbp,
    "recall": _share_of,
    "rprec": _rprec,
    "rr": _rr,
    "set_ap": _set_ap,
    "set_f": _set_f,
    "set_precision": _set_precision,
    "set_recall": _set_recall,
    "success": _success,
}
"""The kernels that SQL can compute."""

REFUSED = {
    **dict.fromkeys(
        ("bpm", "cwl_ap", "ift", "inst", "nerr10", "nerr11", "nerr8", "nerr9"),
        "the probability of reading a rank depends on all documents above it",
    ),
    **dict.fromkeys(
        ("cwl_rbp", "insq", "sdcg", "tbg", "u"),
        "its weights reach below the end of the list",
    ),
    **dict.fromkeys(
        ("bin_g", "g"),
        "the discount of a document depends on sums over the ranks above",
    ),
    **dict.fromkeys(
        ("ndcg_rel", "rndcg"),
        "it is a mean of nDCG at ranks that depend on the judgments of each query",
    ),
    **dict.fromkeys(
        ("ordering_loss", "retrieval_loss", "truncation_loss"),
        "its three parts have to add up to 1 - nDCG, and SQL rounds each of them on its own",
    ),
    **dict.fromkeys(
        ("eed", "eel", "eer"),
        "it is a sum over all ranks of a list, judged or not, of squares",
    ),
    **dict.fromkeys(
        ("infndcg", "xinfap"),
        "the judgments of SQL have no strata",
    ),
    **dict.fromkeys(
        ("auc", "pap"),
        "the pairs in the right order depend on sums over the ranks above",
    ),
    "accuracy": "the pairs of documents are more than the rows",
    "cwl_p": "it is P where a document is relevant or not",
    "cwl_rr": "it is RR where a document is relevant or not",
    "compat": "the overlap with the best order depends on the rank of each document in both",
    "q": "it divides by the cumulated gain of the best order at each rank",
    "err": "the probability of reading on is a product over ranks, and SQL only has sums",
    "interpolated_ap": "it needs interpolated precision at each level, which IPrec computes alone",
    "rbp_residual": "what may follow depends on the length of the list, in powers of p",
    "unjudged": "documents without a judgment are counted by Judged",
    "utility": "it is a sum of counts with weights, which NumRet and NumRel have alone",
    "yaap": "databases compute logarithms that differ in their last bits",
}
"""Other kernels that it can't compute, and why."""
