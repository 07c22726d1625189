"""Ask cwl_eval for its user models: `… -m dev.parity.peers.cwl_eval.every ANSWERS`."""

from __future__ import annotations

import ir_measures
import numpy as np
from cwl.ruler.measures.cwl_ap import APCWLMetric
from cwl.ruler.measures.cwl_ift import IFTGoalCWLMetric, IFTGoalRateCWLMetric, IFTRateCWLMetric
from cwl.ruler.measures.cwl_precision import PrecisionCWLMetric
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.measures.cwl_rr import RRCWLMetric
from cwl.ruler.measures.cwl_tbg import TBGCWLMetric
from cwl.ruler.measures.cwl_umeasure import UMeasureCWLMetric
from cwl.ruler.ranking import Ranking

from dev.parity.every import Lists, Row, highest_grades, publish

SCALES = ("max_rel=3", "min_rel=1, max_rel=3", "max_rel=2")
NAMES = [
    *(
        f"{name}({scale})@{k}"
        for name in ("SDCG", "NERR8", "NERR9")
        for scale in SCALES
        for k in (1, 5, 20)
    ),
    *(
        f"BPM(T={target}, {scale})@{k}"
        for target in (1.0, 2.5)
        for scale in SCALES
        for k in (1, 5, 20)
    ),
    *(
        f"{name}(T={target}, {scale})"
        for name in ("INST", "INSQ", "NERR11")
        for target in (1.0, 2.0, 3.5)
        for scale in SCALES
    ),
    *(f"NERR10(p={p}, {scale})" for p in (0.5, 0.9) for scale in SCALES),
    "RBP(p=0.8, rel=1)",
    "RBP(p=0.5, rel=2)",
    "Accuracy",
    "Accuracy(rel=2)@5",
    "Compat",
    "Compat(p=0.8)",
    "Compat(p=0.8, normalize=False)",
    "SetP(relative=True)",
    "SetP(rel=2, relative=True)",
]
QUANTITIES = {
    "total_utility": "expected_total_utility",
    "cost": "expected_cost",
    "total_cost": "expected_total_cost",
    "items": "expected_items",
}
VALUED = [
    f"{name}, value='{quantity}')@{k}" if k else f"{name}, value='{quantity}')"
    for quantity in QUANTITIES
    for name, k in (
        ("SDCG(max_rel=3", 5),
        ("BPM(T=2.5, max_rel=3", 5),
        ("NERR8(max_rel=3", 5),
        ("NERR9(max_rel=3", 5),
        ("INST(T=2.0, max_rel=3", 0),
        ("INSQ(T=2.0, max_rel=3", 0),
        ("NERR10(max_rel=3", 0),
        ("NERR11(T=2.0, max_rel=3", 0),
    )
]
USERS = {
    "P_CWL(max_rel=3)@5": lambda: PrecisionCWLMetric(5),
    "RR_CWL(max_rel=3)": RRCWLMetric,
    "AP_CWL(max_rel=3)": APCWLMetric,
    "RBP_CWL(p=0.8, max_rel=3)": lambda: RBPCWLMetric(0.8),
    "TBG(halflife=5, max_rel=3)": lambda: TBGCWLMetric(5),
    "U(L=12, max_rel=3)": lambda: UMeasureCWLMetric(12),
    "IFT(max_rel=3)": lambda: IFTGoalRateCWLMetric(2.0, 0.9, 10, 0.2, 0.9, 10),
    "IFT(stops_by='goal', R1=1, max_rel=3)": lambda: IFTGoalCWLMetric(2.0, 0.9, 1),
    "IFT(stops_by='rate', A=0.1, R2=3, max_rel=3)": lambda: IFTRateCWLMetric(0.1, 0.9, 3),
}
"""Users that ir_measures doesn't have."""
REPORTED = ("utility", *QUANTITIES)


def ask_user(name: str, rows: list[Row], run: Lists) -> dict[str, float]:
    """Return the values of queries for a user, by the name, the quantity and `residual`."""
    user, quantity, residual = name.split(" ; ")
    found = {}
    for query, grades in highest_grades(rows).items():
        ranked = sorted(run.get(query, {}).items(), key=lambda pair: -pair[1])
        gains = np.array([grades.get(document, np.nan) / 3 for document, _ in ranked])
        metric = USERS[user]()
        metric.residuals = True
        metric.measure(Ranking(query, gains, np.ones(len(gains))))
        field = f"{'residual_' * bool(residual)}expected_{quantity}"
        found[query] = float(getattr(metric, field))
    return found


def ask(name: str, rows: list[Row], run: Lists) -> dict[str, float]:
    """Return the values of queries for a measure."""
    if " ; " in name:
        return ask_user(name, rows, run)
    call, _, quantity = name.partition(", value='")
    quantity, _, rest = quantity.partition("')")
    asked = ir_measures.parse_measure(call + ")" * bool(quantity) + rest)
    found = ir_measures.iter_calc([asked], highest_grades(rows), run)
    field = QUANTITIES.get(quantity, "value")
    return {metric.query_id: float(getattr(metric, field)) for metric in found}


if __name__ == "__main__":
    users = [
        f"{user} ; {quantity} ; {residual}"
        for user in USERS
        for quantity in REPORTED
        for residual in ("", "residual")
        if not residual or quantity in {"utility", "total_utility"}
    ]
    publish("cwl-eval", [*NAMES, *VALUED, *users], ask)
