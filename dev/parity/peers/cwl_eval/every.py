"""Ask ir_measures for its user models: `… -m dev.parity.peers.cwl_eval.every ANSWERS`."""

from __future__ import annotations

import ir_measures

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


def ask(name: str, rows: list[Row], run: Lists) -> dict[str, float]:
    """Return the values of queries for a measure."""
    call, _, quantity = name.partition(", value='")
    quantity, _, rest = quantity.partition("')")
    asked = ir_measures.parse_measure(call + ")" * bool(quantity) + rest)
    found = ir_measures.iter_calc([asked], highest_grades(rows), run)
    field = QUANTITIES.get(quantity, "value")
    return {metric.query_id: float(getattr(metric, field)) for metric in found}


if __name__ == "__main__":
    publish("cwl-eval", [*NAMES, *VALUED], ask)
