"""Ask trectools: `… -m dev.parity.peers.trectools.measure ANSWERS`."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from trectools import TrecEval, TrecQrel, TrecRun

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
WHOLE = 1000
METHODS = {"nDCG": "get_ndcg", "AP": "get_map", "P": "get_precision"}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for its measures, of files in the format of TREC, with a name that NumPy has dropped."""
    # NumPy 1.24 removed the alias; without it precision ends with an AttributeError.
    vars(np)["int"] = int
    for convention, trec_eval in (("trectools", True), ("trectools_exp", False)):
        answers = Answers(
            "trectools",
            convention,
            f"TrecEval(run, qrels).get_ndcg(depth=k, trec_eval={trec_eval})",
            mean_over="run",
            notes=[
                "Without np.int = int, which NumPy 1.24 dropped, P ends with an AttributeError.",
                "A query without a hit is missing from its values; 0 stands for it here.",
            ],
        )
        methods = METHODS if trec_eval else {"nDCG": "get_ndcg"}
        for case in cases:
            evaluation = read(case)
            for name, method in methods.items():
                for k in CUTOFFS:
                    if name == "P" and k is None:
                        continue
                    ask = partial(evaluate, at(name, k), evaluation, method, k or WHOLE, trec_eval)
                    answers.ask_at_once(case, [at(name, k)], ask)
            if trec_eval:
                ask = partial(evaluate, "RR", evaluation, "get_reciprocal_rank", WHOLE, trec_eval)
                answers.ask_at_once(case, ["RR"], ask)
        yield answers


def read(case: Case) -> TrecEval:
    """Write the files of a case, and have them read."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder) / "qrels", Path(folder) / "run"
        qrels.write_text(
            "".join(
                f"{query} 0 {document} {grade}\n"
                for query, row in case.qrels.items()
                for document, grade in row.items()
            ),
            encoding="utf-8",
        )
        run.write_text(
            "".join(
                f"{query} Q0 {document} {rank} {case.run[query][document]} run\n"
                for query in case.run
                for rank, document in enumerate(case.ranked(query), start=1)
            ),
            encoding="utf-8",
        )
        return TrecEval(TrecRun(str(run)), TrecQrel(str(qrels)))


def evaluate(name: str, evaluation: TrecEval, method: str, depth: int, trec_eval: bool) -> Found:
    """Evaluate one measure: its mean, and its values by query."""
    ask = partial(getattr(evaluation, method), depth=depth, trec_eval=trec_eval)
    (found,) = (column for _, column in ask(per_query=True).items())
    topics = map(str, evaluation.run.topics())
    values = {str(query): value for query, value in found.fillna(0).items()}
    return {name: (float(ask()), {query: values.get(query, 0.0) for query in topics})}


if __name__ == "__main__":
    publish(measure)
