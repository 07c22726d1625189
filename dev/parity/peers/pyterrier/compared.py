"""Ask PyTerrier whether runs differ: `… -m dev.parity.peers.pyterrier.compared ANSWERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures
import pandas as pd
import pyterrier

from dev.parity.compared import publish

if TYPE_CHECKING:
    from dev.parity.compared import Answers, Lists, Qrels

GRADE = ir_measures.define_byquery(
    lambda qrels, run: qrels.set_index("doc_id").relevance[run.doc_id].sum(), name="grade"
)
"""The grade of the only document of a run."""
CORRECTIONS = ("bonferroni", "holm", "fdr_bh")


def ask(qrels: Qrels, runs: dict[str, Lists]) -> Answers:
    """Ask for the p-values of the first run with each of the others, and for corrected ones."""
    judged = pd.DataFrame(
        [
            {"qid": query, "docno": document, "label": grade}
            for query, grades in qrels.items()
            for document, grade in grades.items()
        ]
    )
    ranked = [
        pd.DataFrame(
            [
                {"qid": query, "docno": document, "score": score, "rank": 0}
                for query, row in lists.items()
                for document, score in row.items()
            ]
        )
        for lists in runs.values()
    ]
    topics = pd.DataFrame({"qid": list(qrels), "query": list(qrels)})
    first, *others = runs
    answers: Answers = {}
    for test in ("t", "wilcoxon"):
        for correction in CORRECTIONS:
            table = pyterrier.Experiment(
                ranked,
                topics,
                judged,
                [GRADE],
                names=list(runs),
                baseline=0,
                test=test,
                correction=correction,
            ).set_index("name")
            for key, column in ((test, "grade p-value"), (f"{test}, {correction}", None)):
                values = table[column or "grade p-value corrected"]
                answers[key] = {f"{first}-{other}": float(values[other]) for other in others}
    return answers


if __name__ == "__main__":
    publish("pyterrier", "Experiment(…, baseline=0, test='t', correction='holm')", ask)
