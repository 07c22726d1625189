"""Measures estimated from judgments of a random sample of each stratum."""

from __future__ import annotations

from rankscope.measures.spec import Example, Row
from rankscope.measures.table.parameters import REL, K

YILMAZ = (
    "Yilmaz, Kanoulas and Aslam, A simple and efficient sampling method for estimating AP and "
    "NDCG, SIGIR 2008"
)
SAMPLE_EVAL = "sample_eval.pl of NIST, as of October 2011, which cuts runs at 1000 documents"
STRATA = (
    "It needs the stratum of each document of the pool, of which a share was judged at random; a "
    "negative grade means not judged. "
)
BIAS = (
    "On pools of which the top is judged in full and the rest thinly, the mean over queries is too "
    "high, because values are divided by an estimate from the same sample. Compare it only with "
    "values of other runs on the same judgments."
)


def _example(measure: str, formula: str, value: float) -> Example:
    """Return the example of a stratum A, all of which is judged, and of B, of which 2 of 5 are."""
    return Example(
        measure,
        ranking=(1, -1, 2, None, 0),
        not_retrieved=(-1, -1, 0),
        strata=("A", "B", "B", None, "A", "B", "B", "B"),
        formula=formula,
        value=value,
    )


ROWS = (
    Row(
        name="infNDCG",
        kernel="infndcg",
        parameters=(K,),
        formula=r"\mathrm{infNDCG} = \frac{1}{\mathrm{IDCG}} \sum_{s} \frac{n_s}{m_s} "
        r"\sum_{d \in s} \frac{g_d}{\log_2(r_d + 1)}",
        definition=f"nDCG inferred from a sample of judgments. {STRATA}Of the n documents of a "
        "stratum in the list, m are judged, so each judged one stands for n / m. The ideal list "
        "has as many documents of each grade as there are estimated to be, rounded to a whole "
        f"number. Values can be above 1, because they are estimates. {BIAS}",
        undefined="Undefined if no judged document has a grade above 0.",
        value_range=(0, float("inf")),
        references=(YILMAZ, SAMPLE_EVAL),
        strata=True,
        example=_example(
            "infNDCG",
            "(2/2 * (1/log2(2)) + 2/1 * (2/log2(4))) / "
            "(2/log2(2) + 2/log2(3) + 2/log2(4) + 1/log2(5))",
            0.6393,
        ),
    ),
    Row(
        name="xinfAP",
        kernel="xinfap",
        parameters=(K, REL),
        formula=r"\mathrm{xinfAP} = \sum_{s} \frac{R_s}{R} \, \frac{1}{m_s} "
        r"\sum_{d \in s} \mathrm{P}(r_d)",
        definition=f"AP inferred from a sample of judgments. {STRATA}R is the estimated number of "
        "relevant documents, and R_s that of a stratum, of which m are judged and relevant. The "
        "precision at such a document is estimated from the documents above it, stratum by "
        f"stratum. {BIAS}",
        undefined="Undefined if no judged document is relevant.",
        value_range=(0, float("inf")),
        references=(YILMAZ, SAMPLE_EVAL + ", where it is called infAP"),
        strata=True,
        example=_example(
            "xinfAP",
            "(1 * (1/1) + 5/2 * (1/3 + 2/3 * (1/2 * ((1 + 0.00001) / (1 + 0.00003)) + "
            "1/2 * (0.00001 / 0.00003)))) / (1 + 5/2)",
            0.8413,
        ),
    ),
)
