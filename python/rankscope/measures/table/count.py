"""Counts of documents and queries, which are summed up over queries."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import REL, K

OPTIONAL_REL = Parameter(
    "rel",
    domains.OPTIONAL_LEVEL,
    None,
    "The lowest grade that counts; by default, all documents count.",
)
HITS = "It is a mean over queries; in rankscope, a sum."

ROWS = (
    Row(
        name="NumRet",
        kernel="num_ret",
        parameters=(K, OPTIONAL_REL),
        formula=r"\mathrm{NumRet} = |\mathrm{retrieved}|",
        definition="The number of retrieved documents, or of the relevant ones with rel; with a "
        "cutoff, of those among the first k.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measures num_ret and num_rel_ret",),
        trec_eval=(Name("num_ret"), Name("num_rel_ret", {"rel": 1})),
        ir_measures=(Name("NumRet", takes=("rel",)), Name("NumRelRet", {"rel": 1})),
        ranx=(
            Name("hits", {"rel": 1}, note=HITS),
            Name("hits@{k}", {"rel": 1}, note=HITS),
        ),
        claims=frozenset({"swap_monotone", "cutoff_local", "order_free"}),
        example=Example("NumRet", ranking=(1, None, 0), not_retrieved=(1,), formula="3", value=3.0),
    ),
    Row(
        name="NumRel",
        kernel="num_rel",
        parameters=(REL,),
        formula=r"\mathrm{NumRel} = R",
        definition="The number of relevant documents, retrieved or not.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_rel",),
        trec_eval=(Name("num_rel"),),
        ir_measures=(Name("NumRel", takes=("rel",)),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example(
            "NumRel", ranking=(1, None, 0), not_retrieved=(1,), formula="1 + 1", value=2.0
        ),
    ),
    Row(
        name="NumNonrelRet",
        kernel="num_nonrel_ret",
        parameters=(REL,),
        formula=r"\mathrm{NumNonrelRet} = |\{ r : 0 \le g_r < \mathit{rel} \}|",
        definition="The number of retrieved documents that are judged not relevant.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_nonrel_judged_ret",),
        trec_eval=(Name("num_nonrel_judged_ret"),),
        claims=frozenset({"order_free", "binary"}),
        example=Example(
            "NumNonrelRet", ranking=(1, None, 0), not_retrieved=(0,), formula="1", value=1.0
        ),
    ),
    Row(
        name="NumQ",
        kernel="num_q",
        parameters=(),
        formula=r"\mathrm{NumQ} = 1",
        definition="1 for each query, so the sum is the number of queries.",
        value_range=(1, 1),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_q",),
        trec_eval=(Name("num_q"),),
        ir_measures=(Name("NumQ"),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example("NumQ", ranking=(1, None, 0), formula="1", value=1.0),
    ),
)
