"""Ask ir_measures for diversity: `… -m dev.parity.peers.pyndeval.every ANSWERS`."""

from __future__ import annotations

import ir_measures

from dev.parity.every import Lists, Row, publish

NAMES = [
    *(
        f"{name}@{k}"
        for name in ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA")
        for k in (1, 2, 5, 20)
    ),
    *(
        f"{name}(alpha={alpha}, rel=2)@10"
        for name in ("alpha_DCG", "alpha_nDCG")
        for alpha in (0.0, 0.3, 0.9)
    ),
    "ERR_IA(rel=2)@10",
    "nERR_IA(rel=3)@10",
    *(
        f"{name}{call}"
        for name in ("NRBP", "nNRBP")
        for call in ("", "(alpha=0.3, beta=0.8, rel=2)")
    ),
    "AP_IA",
    "AP_IA(rel=2)",
    *(f"{name}@{k}" for name in ("P_IA", "StRecall") for k in (1, 5, 20)),
    "P_IA(rel=2)@10",
    "StRecall(rel=2)@3",
]


def ask(name: str, rows: list[Row], run: Lists) -> dict[str, float]:
    """Return the values of queries for a measure."""
    qrels = [
        ir_measures.Qrel(query, document, grade, subtopic)
        for query, subtopic, document, grade in rows
    ]
    listed = [
        ir_measures.ScoredDoc(query, document, score)
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    asked = ir_measures.parse_measure(name)
    return {
        metric.query_id: float(metric.value)
        for metric in ir_measures.iter_calc([asked], qrels, listed)
    }


if __name__ == "__main__":
    publish("pyndeval", NAMES, ask)
