"""Three losses that add up to 1 − nDCG."""

from __future__ import annotations

from rankscope.measures.spec import Example, Row
from rankscope.measures.table.gain import JARVELIN
from rankscope.measures.table.parameters import BASE, DISCOUNT, GAIN, IDEAL, JUDGED_ONLY, K, S

PARAMETERS = (K, GAIN, DISCOUNT, BASE, S, IDEAL, JUDGED_ONLY)
UNDEFINED = "Undefined if no judged document has a gain above 0, like nDCG."

ROWS = (
    Row(
        name="RetrievalLoss",
        kernel="retrieval_loss",
        parameters=PARAMETERS,
        formula=r"\mathrm{RetrievalLoss@}k = "
        r"\frac{\mathrm{IDCG@}k - \mathrm{IDCG@}k(\mathrm{retrieved})}{\mathrm{IDCG@}k}",
        definition="What nDCG loses because relevant documents were not retrieved: the ideal of "
        "the retrieved documents, compared with that of all judged ones.",
        undefined=UNDEFINED,
        better="lower",
        ties="exact",
        references=(JARVELIN,),
        example=Example(
            "RetrievalLoss@2",
            ranking=(0, 1, 2),
            not_retrieved=(3,),
            formula="((3/log2(2) + 2/log2(3)) - (2/log2(2) + 1/log2(3))) / (3/log2(2) + 2/log2(3))",
            value=0.3827,
        ),
    ),
    Row(
        name="TruncationLoss",
        kernel="truncation_loss",
        parameters=PARAMETERS,
        formula=r"\mathrm{TruncationLoss@}k = \frac{\mathrm{IDCG@}k(\mathrm{retrieved}) - "
        r"\mathrm{IDCG@}k(\mathrm{shown})}{\mathrm{IDCG@}k}",
        definition="What nDCG loses because relevant documents rank below the cutoff: the ideal of "
        "the documents above it, compared with that of all retrieved ones.",
        undefined=UNDEFINED,
        better="lower",
        ties="exact",
        references=(JARVELIN,),
        example=Example(
            "TruncationLoss@2",
            ranking=(0, 1, 2),
            not_retrieved=(3,),
            formula="((2/log2(2) + 1/log2(3)) - 1/log2(2)) / (3/log2(2) + 2/log2(3))",
            value=0.3827,
        ),
    ),
    Row(
        name="OrderingLoss",
        kernel="ordering_loss",
        parameters=PARAMETERS,
        formula=r"\mathrm{OrderingLoss@}k = "
        r"\frac{\mathrm{IDCG@}k(\mathrm{shown}) - \mathrm{DCG@}k}{\mathrm{IDCG@}k}",
        definition="What nDCG loses because of the order of the documents above the cutoff, "
        "compared with the best order of the same documents.",
        undefined=UNDEFINED,
        better="lower",
        ties="exact",
        references=(JARVELIN,),
        example=Example(
            "OrderingLoss@2",
            ranking=(0, 1, 2),
            not_retrieved=(3,),
            formula="(1/log2(2) - 1/log2(3)) / (3/log2(2) + 2/log2(3))",
            value=0.0866,
        ),
    ),
)
