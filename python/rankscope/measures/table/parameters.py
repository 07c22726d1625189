"""The parameters that several measures share."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Parameter

K = Parameter("k", domains.CUTOFF, None, "The cutoff: ranks below it do not count.")
REQUIRED_K = Parameter(
    "k", domains.DIVISOR, None, "The cutoff: ranks below it do not count.", required=True
)
REL = Parameter("rel", domains.LEVEL, 1.0, "The smallest grade that is relevant.")
BETA = Parameter("beta", domains.POSITIVE, 1.0, "How much more recall counts than precision.")
JUDGED_ONLY = Parameter(
    "judged_only",
    domains.FLAG,
    False,
    "Whether unjudged documents are removed from the list first.",
)
GAIN = Parameter("gain", domains.GAIN, "linear", "The gain of a grade.")
DISCOUNT = Parameter("discount", domains.DISCOUNT, "log2", "The weight of a rank.")
BASE = Parameter(
    "base",
    domains.BASE,
    2.0,
    "The base of the logarithm in the discount.",
    only_with=("discount", ("log", "jk")),
)
S = Parameter(
    "s",
    domains.POSITIVE,
    1.0,
    "The power of the rank in the discount.",
    only_with=("discount", ("zipf",)),
)
IDEAL = Parameter(
    "ideal",
    domains.IDEAL,
    "judged",
    "What the ideal list is made of: the judged documents or the retrieved ones, down to the "
    "cutoff; all judged ones, cut nowhere; or a document of gain 1 at each rank down to it.",
    needs_k=("slots",),
)
