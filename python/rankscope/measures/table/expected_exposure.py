"""Expected exposure: how evenly relevant documents get the attention of users."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Parameter, Row
from rankscope.measures.table.parameters import REL, K

MODEL = Parameter(
    "model",
    domains.one_of("rbp", "gerr", "dcg"),
    "rbp",
    "How much attention ranks get: as in RBP; less after each relevant document, which may satisfy "
    "the user; or as the discount of DCG.",
)
P = Parameter(
    "p",
    domains.PERSISTENCE,
    0.5,
    "The probability of reading on after a document.",
    only_with=("model", ("rbp", "gerr")),
)
U = Parameter(
    "u",
    domains.PROBABILITY,
    0.5,
    "The probability that a relevant document satisfies the user.",
    only_with=("model", ("gerr",)),
)
COMPLETE = Parameter(
    "complete",
    domains.FLAG,
    False,
    "Whether the judged documents are all that can be ranked, as in reranking. Those that aren't "
    "relevant then share the attention that is left.",
)
PARAMETERS = (K, MODEL, P, U, REL, COMPLETE)

DIAZ = (
    "Diaz, Mitra, Ekstrand, Biega and Carterette, Evaluating stochastic rankings with expected "
    "exposure, CIKM 2020"
)
EXPEVAL = (
    "expeval, of the TREC 2019 and 2020 Fair Ranking Tracks, with -U; its default is "
    "model='gerr', and it also scales values by bounds"
)
EXPOSURE = (
    "The exposure of a document is the attention that its rank gets, or the mean of that over the "
    "rankings that a stochastic ranker shows. "
)
TARGET = (
    "The target is what documents get on average over all best orders, so that documents of one "
    "grade have the same."
)
UNDEFINED = "Undefined if there are no relevant documents."
CLAIMS = frozenset({"cutoff_local"})


def _example(measure: str, formula: str, value: float) -> Example:
    return Example(measure, ranking=(0, 1), not_retrieved=(1,), formula=formula, value=value)


ROWS = (
    Row(
        name="EEL",
        kernel="eel",
        parameters=PARAMETERS,
        formula=r"\mathrm{EEL} = \sum_{d} (e_d - t_d)^2 = \mathrm{EED} - 2\,\mathrm{EER} + "
        r"\sum_{d} t_d^2",
        definition="Expected exposure loss: the squared distance between the exposure e of "
        f"documents and a target t. {EXPOSURE}{TARGET}",
        undefined=UNDEFINED,
        value_range=(0, float("inf")),
        better="lower",
        references=(DIAZ, EXPEVAL),
        aliases=("ExpectedExposureLoss",),
        claims=CLAIMS,
        example=_example(
            "EEL", "(1 - 0)**2 + (0.5 - (1 + 0.5) / 2)**2 + (0 - (1 + 0.5) / 2)**2", 1.625
        ),
    ),
    Row(
        name="EED",
        kernel="eed",
        parameters=PARAMETERS,
        formula=r"\mathrm{EED} = \sum_{d} e_d^2",
        definition="Expected exposure disparity: how unequal the exposure of documents is. "
        f"{EXPOSURE}It is lower the more different documents a ranker shows at the top.",
        undefined=UNDEFINED,
        value_range=(0, float("inf")),
        better="lower",
        references=(DIAZ, EXPEVAL),
        aliases=("ExpectedExposureDisparity",),
        claims=CLAIMS,
        example=_example("EED", "1**2 + 0.5**2", 1.25),
    ),
    Row(
        name="EER",
        kernel="eer",
        parameters=PARAMETERS,
        formula=r"\mathrm{EER} = \sum_{d} e_d\, t_d",
        definition="Expected exposure relevance: how much of their exposure e relevant documents "
        f"have, weighted by a target t. {EXPOSURE}{TARGET}",
        undefined=UNDEFINED,
        value_range=(0, float("inf")),
        references=(
            DIAZ,
            EXPEVAL,
            "rank-fairness-metrics of Raj and Ekstrand, SIGIR 2022, whose EER is twice this value",
        ),
        aliases=("ExpectedExposureRelevance",),
        claims=CLAIMS,
        example=_example("EER", "0.5 * ((1 + 0.5) / 2)", 0.375),
    ),
)
