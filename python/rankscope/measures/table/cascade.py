"""Measures that model a user who reads from the top and may stop at each document."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import JUDGED_ONLY, K

P = Parameter(
    "p", domains.PROBABILITY, 0.8, "The probability that a user continues to the next rank."
)
GRADED = Parameter(
    "graded",
    domains.FLAG,
    False,
    "Whether gains are grades divided by max_grade, instead of binary relevance.",
)
REL = Parameter(
    "rel",
    domains.LEVEL,
    1.0,
    "The lowest grade that counts as relevant.",
    only_with=("graded", (False,)),
)
MAX_GRADE = Parameter(
    "max_grade",
    domains.TOP_GRADE,
    4.0,
    "The highest grade of the scale; a higher grade is an error.",
)
MAX_GRADE_WHERE_GRADED = Parameter(
    "max_grade",
    domains.SCALE,
    4.0,
    "The highest grade of the scale, of which a higher grade is an error; `query` takes the "
    "highest grade of each query, or 1 if that is lower. With None, grades are gains without a "
    "scale.",
    only_with=("graded", (True,)),
)

MOFFAT = (
    "Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, "
    "ACM Transactions on Information Systems 27(1), 2008"
)

ROWS = (
    Row(
        name="ERR",
        kernel="err",
        parameters=(K, MAX_GRADE, JUDGED_ONLY),
        formula=r"\mathrm{ERR@}k = \sum_{r=1}^{k} \frac{s_r}{r} \prod_{i=1}^{r-1} (1 - s_i), "
        r"\quad s_r = \frac{2^{g_r} - 1}{2^{g_{\max}}}",
        definition="The expected reciprocal rank at which a user stops, if each document satisfies "
        "the user with a probability that depends on its grade.",
        undefined="Undefined if no judged document has a grade above 0.",
        references=(
            (
                "Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded "
                "relevance, CIKM 2009"
            ),
        ),
        ir_measures=(Name("ERR", takes=("k",)),),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "ERR@3",
            ranking=(2, 0, 3, 4),
            formula="(2**2 - 1)/2**4 / 1 + (1 - (2**2 - 1)/2**4) * (2**3 - 1)/2**4 / 3",
            value=0.306,
        ),
    ),
    Row(
        name="RBP",
        kernel="rbp",
        parameters=(K, P, REL, GRADED, MAX_GRADE_WHERE_GRADED, JUDGED_ONLY),
        formula=r"\mathrm{RBP@}k = (1 - p) \sum_{r=1}^{k} b_r\, p^{r-1}",
        definition="The expected rate at which a user finds relevant documents, if the user "
        "continues from each rank to the next with probability p.",
        undefined="Undefined if no judged document is relevant, or with graded=True, if none has "
        "a grade above 0.",
        ties="exact",
        references=(MOFFAT,),
        trec_eval=(
            Name(
                "rbp",
                {"p": 0.9, "graded": True, "max_grade": "query"},
                note="It means to scale grades like this, but reads variables that are never set.",
            ),
        ),
        ir_measures=(
            Name(
                "RBP",
                takes=("k", "p", "rel"),
                note="Without rel it requests graded gains, which none of its providers has.",
            ),
        ),
        ranx=(Name("rbp{p}", {"graded": True, "max_grade": None}),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        example=Example(
            "RBP(p=0.5)",
            ranking=(1, None, 1, 0),
            formula="(1 - 0.5) * (1 + 0.5**2)",
            value=0.625,
        ),
    ),
    Row(
        name="RBPResidual",
        kernel="rbp_residual",
        parameters=(K, P),
        formula=r"p^{n} + (1 - p) \sum_{r \le n\, :\, g_r \ \mathrm{unknown}} p^{r-1}, "
        r"\quad n = \min(k, |\mathrm{retrieved}|)",
        definition="How much RBP would increase if every unjudged document, and every rank below "
        "the end of the list or the cutoff, were relevant.",
        better="lower",
        ties="exact",
        references=(MOFFAT,),
        trec_eval=(
            Name(
                "rbp_resid",
                {"p": 0.9},
                note="It is 0 if every retrieved document is judged.",
            ),
        ),
        claims=frozenset({"cutoff_local"}),
        example=Example(
            "RBPResidual(p=0.5)",
            ranking=(1, None, 0, None),
            formula="0.5**4 + (1 - 0.5) * (0.5 + 0.5**3)",
            value=0.375,
        ),
    ),
)
