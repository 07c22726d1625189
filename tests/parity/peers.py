"""Ours and the peers, each called through its public entry, on dicts of dicts."""

from __future__ import annotations

import ir_measures
import pytrec_eval
import rankscope

Qrels = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]
Rows = list[tuple[str, str, float]]


def of_pytrec_eval(qrels, run, names, *, rel=1, judged_only=False):
    """The values of pytrec_eval; it leaves out queries that are not in the run."""
    names = list(names)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(names), relevance_level=rel, judged_docs_only_flag=judged_only
    )
    by_query = evaluator.evaluate(run)
    return {name: {query: row[name] for query, row in by_query.items()} for name in names}


def of_ir_measures(qrels, run, names):
    asked = {ir_measures.parse_measure(name): name for name in names}
    values = {name: {} for name in asked.values()}
    scored = [ir_measures.ScoredDoc(*row) for row in run] if isinstance(run, list) else run
    for found in ir_measures.iter_calc(list(asked), qrels, scored):
        values[asked[found.measure]][found.query_id] = found.value
    return values


def of_rankscope(qrels, run, measures, *, policy="", score_type="float32"):
    """Our values, by canonical name; scores compare in single precision, as theirs do."""
    evaluation = rankscope.evaluate(
        qrels, run, list(measures), policy=policy, score_type=score_type
    )
    return {
        measure.name: dict(
            zip(evaluation.query_texts, evaluation.per_query_list(measure), strict=True)
        )
        for measure in evaluation.measures
    }
