"""The names of pytrec_eval, computed by rankscope: the same arguments, keys, values and errors.

Values are those of pytrec-eval-terrier 0.5.11. To let a program that you can't edit import this
module as `pytrec_eval`, call `rankscope.install_as_pytrec_eval()` first.

Examples:
    >>> from rankscope import pytrec_eval
    >>> qrel = {"q1": {"d1": 0, "d2": 1}, "q2": {"d2": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 1.0, "d2": 0.0}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    >>> evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg_cut.5,10"})
    >>> evaluator.evaluate(run)["q1"]
    {'map': 0.5, 'ndcg_cut_5': 0.6309297535714575, 'ndcg_cut_10': 0.6309297535714575}
"""

from __future__ import annotations

from rankscope.pytrec_eval.evaluator import RelevanceEvaluator
from rankscope.pytrec_eval.files import parse_qrel, parse_run
from rankscope.pytrec_eval.names import (
    compute_aggregated_measure,
    supported_measures,
    supported_nicknames,
)

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"  # of pytrec-eval-terrier, which programs may ask for
