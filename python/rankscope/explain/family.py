"""Measures with the same settings: nDCG beside DCG, AP beside P."""

from __future__ import annotations

from rankscope.measures import Measure
from rankscope.measures.table import measure as measure_named
from rankscope.records import record


@record(frozen=True, slots=True)
class Family:
    """A measure of cumulated gain with the others of the same settings.

    Args:
        own: The measure.
        cg: CG.
        dcg: DCG.
        idcg: IDCG.
        ndcg: nDCG.
    """

    own: Measure
    cg: Measure
    dcg: Measure
    idcg: Measure
    ndcg: Measure

    @classmethod
    def of(cls, measure: Measure) -> Family:
        """Take the others of a measure."""
        names = ("CG", "DCG", "IDCG", "nDCG")
        return cls(measure, *(sibling(name, measure) for name in names))


def sibling(name: str, measure: Measure) -> Measure:
    """Give another measure with the settings that it shares with one."""
    plain = measure_named(name)
    settings = measure.parameters
    return Measure(
        plain.row, tuple(settings.get(key, value) for key, value in plain.parameters.items())
    )
