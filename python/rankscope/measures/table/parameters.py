"""The parameters that several measures share."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Parameter

K = Parameter("k", domains.CUTOFF, None, "The cutoff; ranks below it don't count.")
REQUIRED_K = Parameter(
    "k", domains.DIVISOR, None, "The cutoff; ranks below it don't count.", required=True
)
READ_K = Parameter(
    "k", domains.DEPTH, None, "The cutoff; the user reads no rank below it.", required=True
)
DEPTH = Parameter(
    "k", domains.DEPTH, 1000, "How far the user reads at most; 1000 is the depth of cwl_eval."
)
REL = Parameter("rel", domains.LEVEL, 1.0, "The lowest grade that counts as relevant.")
BETA = Parameter(
    "beta", domains.POSITIVE, 1.0, "How many times as much recall counts as precision."
)
JUDGED_ONLY = Parameter(
    "judged_only",
    domains.FLAG,
    False,
    "Whether to remove unjudged documents from the list first.",
)
GAIN = Parameter("gain", domains.GAIN, "linear", "The gain of each grade.")
DISCOUNT = Parameter("discount", domains.DISCOUNT, "log2", "The weight of each rank.")
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
    "The exponent of the rank in the discount.",
    only_with=("discount", ("zipf",)),
)
IDEAL = Parameter(
    "ideal",
    domains.IDEAL,
    "judged",
    "The documents of the ideal list: the judged or the retrieved ones, cut at k; all judged ones "
    "without a cut; or one of gain 1 at each rank up to k.",
    needs_k=("slots",),
)
