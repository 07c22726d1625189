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

import sys

from rankscope.errors import UsageError
from rankscope.pytrec_eval.evaluator import RelevanceEvaluator, parse_qrel, parse_run
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


def install_as_pytrec_eval() -> None:
    """Make `import pytrec_eval` import `rankscope.pytrec_eval` in this process.

    Call it before anything imports pytrec_eval. Programs such as BEIR and MTEB then compute their
    measures with rankscope, unchanged. Calling it again has no effect.

    Raises:
        UsageError: The real pytrec_eval is already imported, and other modules may use it.

    Examples:
        >>> import sys
        >>> from unittest.mock import patch
        >>> import rankscope as rs
        >>> with patch.dict(sys.modules):  # undoes it after the example
        ...     _ = sys.modules.pop("pytrec_eval", None)
        ...     rs.install_as_pytrec_eval()
        ...     import pytrec_eval
        >>> pytrec_eval is rs.pytrec_eval
        True
    """
    module = sys.modules[__name__]
    imported = sys.modules.setdefault("pytrec_eval", module)
    if imported is not module:
        raise UsageError(
            f"pytrec_eval is already imported, from  {getattr(imported, '__file__', None)}",
            hint="call install_as_pytrec_eval() before everything that imports pytrec_eval",
            code="already_imported",
        )
