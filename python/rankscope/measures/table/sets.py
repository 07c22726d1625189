"""Measures of the retrieved documents as a set, regardless of their order."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.binary import CLEVERDON, NO_RELEVANT, RIJSBERGEN
from rankscope.measures.table.parameters import BETA, JUDGED_ONLY, REL, K

RELATIVE = Parameter(
    "relative",
    domains.FLAG,
    False,
    "Whether to divide by the highest value that is possible for this number of documents.",
)

HIT = Parameter("hit", domains.NUMBER, 1.0, "What a relevant document in the list is worth.")
FALSE_ALARM = Parameter(
    "false_alarm", domains.NUMBER, -1.0, "What a document in the list is worth that isn't relevant."
)
MISS = Parameter(
    "miss", domains.NUMBER, 0.0, "What a relevant document is worth that isn't in the list."
)
REJECTION = Parameter("rejection", domains.NUMBER, 0.0, "What a document is worth that is neither.")
DOCUMENTS = Parameter(
    "documents", domains.COUNT, 0.0, "How many documents the collection has, for rejection."
)

ROWS = (
    Row(
        name="SetP",
        kernel="set_precision",
        parameters=(K, REL, RELATIVE, JUDGED_ONLY),
        formula=r"\mathrm{SetP} = \frac{|\mathrm{relevant} \cap \mathrm{retrieved}|}"
        r"{|\mathrm{retrieved}|}",
        definition="The share of the retrieved documents that are relevant, or 0 if none was "
        "retrieved. With a cutoff, only the first k documents count as retrieved.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        trec_eval=(Name("set_P"), Name("set_relative_P", {"relative": True})),
        ir_measures=(
            Name("SetP", takes=("rel", "relative", "judged_only")),
            Name("SetRelP", {"relative": True}),
        ),
        ranx=(Name("precision"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example(
            "SetP", ranking=(1, 0, None, 2), not_retrieved=(1,), formula="2/4", value=0.5
        ),
    ),
    Row(
        name="SetR",
        kernel="set_recall",
        parameters=(K, REL),
        formula=r"\mathrm{SetR} = \frac{|\mathrm{relevant} \cap \mathrm{retrieved}|}"
        r"{|\mathrm{relevant}|}",
        definition="The share of the relevant documents that were retrieved. With a cutoff, only "
        "the first k documents count as retrieved.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        trec_eval=(Name("set_recall"),),
        ir_measures=(Name("SetR", takes=("rel",)),),
        ranx=(Name("recall"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example(
            "SetR", ranking=(1, 0, None, 2), not_retrieved=(1,), formula="2/3", value=0.6667
        ),
    ),
    Row(
        name="SetF",
        kernel="set_f",
        parameters=(REL, BETA, JUDGED_ONLY),
        formula=r"\mathrm{SetF} = \frac{(1 + \beta^2)\, \mathrm{SetP} \cdot \mathrm{SetR}}"
        r"{\beta^2\, \mathrm{SetP} + \mathrm{SetR}}",
        definition="The weighted harmonic mean of set precision and set recall, or 0 if both "
        "are 0.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(RIJSBERGEN,),
        trec_eval=(Name("set_F", note="Its parameter is beta squared."),),
        ir_measures=(
            Name(
                "SetF",
                takes=("rel", "beta", "judged_only"),
                note="It passes beta to trec_eval, which reads it as beta squared.",
            ),
        ),
        ranx=(Name("f1"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example(
            "SetF",
            ranking=(1, 0, None, 2),
            not_retrieved=(1,),
            formula="2 * (2/4) * (2/3) / (2/4 + 2/3)",
            value=0.5714,
        ),
    ),
    Row(
        name="SetAP",
        kernel="set_ap",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{SetAP} = \mathrm{SetP} \cdot \mathrm{SetR}",
        definition="Set precision multiplied by set recall.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=("trec_eval, measure set_map",),
        trec_eval=(Name("set_map"),),
        ir_measures=(Name("SetAP", takes=("rel", "judged_only")),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example(
            "SetAP",
            ranking=(1, 0, None, 2),
            not_retrieved=(1,),
            formula="(2/4) * (2/3)",
            value=0.3333,
        ),
    ),
    Row(
        name="Utility",
        kernel="utility",
        parameters=(HIT, FALSE_ALARM, MISS, REJECTION, DOCUMENTS, REL, JUDGED_ONLY),
        formula=r"\mathrm{Utility} = |\mathrm{relevant} \cap \mathrm{retrieved}| - "
        r"|\mathrm{retrieved} \setminus \mathrm{relevant}|",
        definition="What the documents are worth together, by whether they are relevant and "
        "whether they are in the list; by default, relevant documents in the list minus others.",
        value_range=(float("-inf"), float("inf")),
        ties="exact",
        references=("Hull and Robertson, The TREC-8 filtering track final report, TREC 1999",),
        trec_eval=(Name("utility"),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example(
            "Utility(hit=3, false_alarm=-2)",
            ranking=(1, 0, None, 2),
            not_retrieved=(1,),
            formula="3 * 2 - 2 * 2",
            value=2.0,
        ),
    ),
)
