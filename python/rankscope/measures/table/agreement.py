"""Measures of how far the order of a list agrees with the best one."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import REL, K

P = Parameter(
    "p",
    domains.PERSISTENCE,
    0.95,
    "How much the top of the list counts: each rank has p times the weight of the one before it.",
)
NORMALIZE = Parameter(
    "normalize",
    domains.FLAG,
    True,
    "Whether to divide by the value of the best order, so that it has the value 1.",
)

ROWS = (
    Row(
        name="Accuracy",
        kernel="accuracy",
        parameters=(K, REL),
        formula=r"\mathrm{Accuracy@}k = 1 - \frac{1}{m\, n} \sum_{r \le k\, :\, b_r = 1} "
        r"|\{ i < r : b_i = 0 \}|, \quad m = \sum_{r=1}^{k} b_r, \quad "
        r"n = \min(k, |\mathrm{retrieved}|) - m",
        definition="The share of the pairs of a relevant and a non-relevant document among the "
        "first k in which the relevant document is ranked higher, or 1 if there is no non-relevant "
        "document.",
        undefined="Undefined if no relevant document is among the first k.",
        references=("ir_measures, measure Accuracy",),
        ir_measures=(
            Name(
                "Accuracy",
                takes=("k", "rel"),
                note="Computed alone, it leaves out queries for which it is undefined. It fails if "
                "all documents are relevant.",
            ),
        ),
        claims=frozenset({"cutoff_local", "binary"}),
        example=Example(
            "Accuracy",
            ranking=(0, 1, None, 2),
            not_retrieved=(1,),
            formula="1 - (1 + 2) / (2*2)",
            value=0.25,
        ),
    ),
    Row(
        name="Compat",
        kernel="compat",
        parameters=(P, NORMALIZE),
        formula=r"\mathrm{Compat} = \frac{\mathrm{RBO}(\mathrm{list}, \mathrm{ideal})}"
        r"{\mathrm{RBO}(\mathrm{ideal}, \mathrm{ideal})}, \quad "
        r"\mathrm{RBO}(A, B) = \frac{\sum_{i=1}^{d} p^{i-1}\, |A_{1..i} \cap B_{1..i}| / i}"
        r"{\sum_{i=1}^{d} p^{i-1}}",
        definition="The rank-biased overlap of the list with the ideal order of the relevant "
        "documents, of those by grade the one most like the list, as a share of the highest that "
        "is possible. The depth d is the length of the longer one.",
        undefined="Undefined if no judged document has a grade above 0.",
        references=(
            (
                "Clarke, Vtyurina and Smucker, Assessing top-k preferences, ACM Transactions on "
                "Information Systems 39(3), 2021"
            ),
        ),
        aliases=("Compatibility",),
        ir_measures=(Name("Compat", takes=("p", "normalize")),),
        claims=frozenset({"swap_monotone"}),
        example=Example(
            "Compat(p=0.5)",
            ranking=(1, 2),
            formula="((1 + 0.5/2 - 1) + (1 + 0.5/2 - 1)) / ((1 + 0.5/2) + (1 + 0.5/2 - 1))",
            value=0.3333,
        ),
    ),
)
