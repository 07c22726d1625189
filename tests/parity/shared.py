"""The measures that we share with the peers, as data: ours, and what they call it."""

from __future__ import annotations

from dataclasses import dataclass

from rankscope import Measure
from rankscope.measures import parse

CUTOFFS = (1, 2, 3, 5, 10, 100, 1000)
LEVELS = (0.0, 0.1, 0.2, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Shared:
    """One measure, and its names."""

    measure: Measure
    pytrec_eval: str

    @property
    def takes_rel(self):
        """Whether it knows relevant documents from others."""
        return self.measure.parameters.get("rel") is not None

    @property
    def takes_judged_only(self):
        """Whether it can be asked to see judged documents only."""
        return "judged_only" in self.measure.parameters

    def at(self, *, rel=1, judged_only=False):
        """The measure with a level of relevance, and on condensed lists."""
        measure = self.measure
        if self.takes_rel:
            measure = measure(rel=rel)
        return measure(judged_only=True) if judged_only else measure


def _at_cutoffs(ours, theirs):
    return [Shared(parse(f"{ours}@{k}"), f"{theirs}_{k}") for k in CUTOFFS]


SHARED = (
    Shared(parse("nDCG"), "ndcg"),
    *_at_cutoffs("nDCG", "ndcg_cut"),
    Shared(parse("AP"), "map"),
    *_at_cutoffs("AP", "map_cut"),
    *_at_cutoffs("P", "P"),
    *_at_cutoffs("R", "recall"),
    *_at_cutoffs("Success", "success"),
    Shared(parse("RR"), "recip_rank"),
    Shared(parse("Rprec"), "Rprec"),
    Shared(parse("Bpref"), "bpref"),
    Shared(parse("infAP"), "infAP"),
    *(Shared(parse(f"IPrec@{level}"), f"iprec_at_recall_{level:.2f}") for level in LEVELS),
    Shared(parse("SetP"), "set_P"),
    Shared(parse("SetR"), "set_recall"),
    Shared(parse("SetF"), "set_F"),
    Shared(parse("SetAP"), "set_map"),
    Shared(parse("NumRet"), "num_ret"),
    Shared(parse("NumRel"), "num_rel"),
    Shared(parse("NumRet(rel=1)"), "num_rel_ret"),
    Shared(parse("NumQ"), "num_q"),
)

IR_MEASURES = tuple(shared.measure for shared in SHARED if shared.measure.name != "NumQ")
"""Those that ir_measures hands to pytrec_eval, and ranks as it does."""

IR_MEASURES_ASCENDING = (
    parse("Judged"),
    *(parse(f"{name}@{k}") for name in ("Judged", "RR") for k in CUTOFFS),
    *(parse(f"RR(rel=2)@{k}") for k in CUTOFFS),
)
"""Those that ir_measures computes itself: in double precision, equal scores by ascending id."""
