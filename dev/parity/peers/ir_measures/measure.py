"""Ask ir_measures and pytrec_eval: `… -m dev.parity.peers.ir_measures.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import ir_measures
import pytrec_eval

from dev.parity.answers import Answers, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

PYTREC_EVAL = {
    "nDCG": "ndcg",
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in (1, 3, 5, 10)},
    "AP": "map",
    **{f"AP@{k}": f"map_cut_{k}" for k in (3, 10)},
    **{f"P@{k}": f"P_{k}" for k in (3, 10)},
    **{f"R@{k}": f"recall_{k}" for k in (3, 10)},
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
}
IR_MEASURES = [*PYTREC_EVAL, "RR@3", "RR@10", "Judged@3", "Success@3"]


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask each under its own name; the means of pytrec_eval are its caller's."""
    answers = Answers(
        "pytrec-eval-terrier",
        "pytrec_eval",
        "RelevanceEvaluator(qrels, measures).evaluate(run)",
        notes=["It gives no mean: that is for its caller to take."],
    )
    for case in cases:
        answers.ask_at_once(case, PYTREC_EVAL, partial(evaluate_pytrec_eval, case))
    yield answers
    yield ask(cases, "ir-measures", "ir_measures", {name: name for name in IR_MEASURES})


def ask(cases: list[Case], library: str, convention: str, names: dict[str, str]) -> Answers:
    """Ask ir_measures, by its names for our measures."""
    answers = Answers(library, convention, "ir_measures.calc([measure], qrels, run)")
    for case in cases:
        for ours, theirs in names.items():
            answers.ask_at_once(case, [ours], partial(evaluate, case, ours, theirs))
    return answers


def evaluate_pytrec_eval(case: Case) -> Found:
    """Evaluate all measures of a case."""
    qrels = cast("dict[str, dict[str, int]]", case.qrels)  # what else there is it refuses
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_EVAL.values()))
    by_query = evaluator.evaluate(case.run)
    return {
        name: (None, {query: row[theirs] for query, row in by_query.items()})
        for name, theirs in PYTREC_EVAL.items()
    }


def evaluate(case: Case, ours: str, theirs: str) -> Found:
    """Evaluate one measure of a case."""
    asked = ir_measures.parse_measure(theirs)
    qrels = cast("dict[str, dict[str, int]]", case.qrels)  # what else there is it refuses
    values = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([asked], qrels, case.run)
    }
    return {ours: (ir_measures.calc_aggregate([asked], qrels, case.run)[asked], values)}


if __name__ == "__main__":
    publish(measure)
