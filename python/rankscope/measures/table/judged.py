"""Measures for incomplete judgments: unjudged differs from judged not relevant."""

from __future__ import annotations

from rankscope.measures.spec import Example, Name, Row
from rankscope.measures.table.binary import NO_RELEVANT, OF_RANKS
from rankscope.measures.table.parameters import REL, REQUIRED_K, K

BUCKLEY = (
    "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; "
    "the denominator min(R, N) is that of trec_eval"
)

ROWS = (
    Row(
        name="Bpref",
        kernel="bpref",
        parameters=(REL,),
        formula=r"\mathrm{Bpref} = \frac{1}{R} \sum_{r\, :\, b_r = 1} "
        r"\left( 1 - \frac{\min(n_r, R)}{\min(N, R)} \right)",
        definition="How rarely documents judged not relevant rank above relevant ones; unjudged "
        "documents are ignored.",
        undefined=NO_RELEVANT,
        references=(BUCKLEY,),
        aliases=("BPref",),
        trec_eval=(Name("bpref"),),
        ir_measures=(Name("Bpref", takes=("rel",)),),
        ranx=(Name("bpref", note="It is NaN if no document is judged not relevant."),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "Bpref",
            ranking=(1, 0, None, 1, 0),
            not_retrieved=(1,),
            formula="(1 + (1 - 1/2)) / 3",
            value=0.5,
        ),
    ),
    Row(
        name="GMBpref",
        kernel="bpref",
        parameters=(REL,),
        formula=r"\mathrm{GMBpref} = \exp \left( \frac{1}{n} \sum_{q=1}^{n} "
        r"\log \max(\mathrm{Bpref}_q, 10^{-5}) \right)",
        definition="The geometric mean of Bpref over queries, where values below 0.00001 count as "
        "0.00001.",
        undefined=NO_RELEVANT,
        mean="geometric",
        references=(BUCKLEY,),
        trec_eval=(Name("gm_bpref"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "GMBpref",
            ranking=(1, 0, None, 1, 0),
            not_retrieved=(1,),
            formula="exp(log((1 + (1 - 1/2)) / 3))",
            value=0.5,
        ),
    ),
    Row(
        name="infAP",
        kernel="infap",
        parameters=(REL,),
        formula=r"\mathrm{infAP} = \frac{1}{R} \sum_{r\, :\, b_r = 1} \left( \frac{1}{r} + "
        r"\frac{r - 1}{r} \cdot \frac{p_r}{r - 1} \cdot "
        r"\frac{m_r + \epsilon}{m_r + n_r + 2 \epsilon} \right)",
        definition="Average precision, with the precision at each relevant document estimated from "
        "the judged documents above it.",
        undefined=NO_RELEVANT,
        references=(
            (
                "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect "
                "judgments, CIKM 2006; grades below 0 mean pooled and not judged, as in trec_eval"
            ),
        ),
        trec_eval=(Name("infAP"),),
        ir_measures=(Name("infAP", takes=("rel",)),),
        claims=frozenset({"binary"}),
        example=Example(
            "infAP",
            ranking=(1, None, 0, 1),
            formula="(1 + (1/4 + (3/4) * (2/3) * ((1 + 0.00001) / (1 + 1 + 2 * 0.00001)))) / 2",
            value=0.75,
        ),
    ),
    Row(
        name="Judged",
        kernel="judged",
        parameters=(K,),
        formula=r"\mathrm{Judged@}k = \frac{|\{ r \le k : g_r \ \mathrm{is\ known} \}|}"
        r"{\min(k, |\mathrm{retrieved}|)}",
        definition="The share of the first k retrieved documents that are judged, or 0 for an "
        "empty list.",
        better="neither",
        ties="exact",
        references=("ir_measures, measure Judged",),
        ir_measures=(Name("Judged", takes=("k",)),),
        claims=frozenset({"cutoff_local"}),
        example=Example("Judged@4", ranking=(1, None, 0), formula="2/3", value=0.6667),
    ),
    Row(
        name="Unjudged",
        kernel="unjudged",
        parameters=(REQUIRED_K, OF_RANKS),
        formula=r"\mathrm{Unjudged@}k = \frac{1}{k} |\{ r \le k : g_r \ \mathrm{is\ unknown} \}|",
        definition="The share of the first k ranks that have a document without a judgment; ranks "
        "below the end of a shorter list count as judged.",
        better="neither",
        ties="exact",
        references=("trec_eval 10.0, measure unj; grades below 0 mean pooled and not judged",),
        trec_eval=(Name("unj_{k}"),),
        claims=frozenset({"cutoff_local"}),
        example=Example("Unjudged@4", ranking=(1, None, 0), formula="1/4", value=0.25),
    ),
)
