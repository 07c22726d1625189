"""The mix of a stream: the cells of its rankings, whose shares the expected mean follows."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.rules.drop.rule import find_dimension
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record
from rankscope.stats.sequential.observations import Observations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.drop.sample import Sample
    from rankscope.monitor.store.records import Context

MOST_CELLS = 60
"""The attributes of a stream make about so many cells at most, so that a baseline stays small."""


@record(frozen=True, slots=True)
class Cells:
    """The cells that rankings are in.

    Args:
        contexts: What rankings have in common, by number.
        slicing: Which values have slices of their own.
    """

    contexts: Mapping[int, Context]
    slicing: Slicing

    def choose_mix(
        self, rule: DropRule, place: Slice, sample: Sample, rows: NDArray[np.int64]
    ) -> tuple[str, ...]:
        """Return the attributes whose values make the cells of a stream.

        These are the ones that the rule watches, then the other ones of the project, as long as
        there are not too many cells. Those of the slice have one value only, and make none.
        """
        names = [name for name, _ in self.slicing.values]
        watched = [one for name in rule.slices for one in find_dimension(name, names)]
        chosen: tuple[str, ...] = ()
        for name in dict.fromkeys([*watched, *names]):
            if name in dict(place):
                continue
            tried = (*chosen, name)
            _, cells = self._place(sample, rows, tried)
            if len(cells) <= MOST_CELLS:
                chosen = tried
        return chosen

    def observe(
        self,
        values: NDArray[np.float64],
        sample: Sample,
        rows: NDArray[np.int64],
        mix: Sequence[str],
    ) -> Observations:
        """Return the rankings of a stream with the cells that they are in."""
        codes, cells = self._place(sample, rows, mix)
        return Observations(
            value=values,
            cluster=sample.clusters[rows],
            cell=codes,
            time=sample.times[rows],
            cells=cells,
        )

    def _place(
        self, sample: Sample, rows: NDArray[np.int64], mix: Sequence[str]
    ) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
        """Return the cell of each ranking as a number, and the cells."""
        # Rankings are in the order of their contexts, of which there are few.
        at = sample.contexts[rows]
        begins = np.ones(len(at), dtype=np.bool_)
        begins[1:] = at[1:] != at[:-1]
        numbers, of_ranking = at[begins], np.cumsum(begins) - 1
        kept = {name: set(values) for name, values in self.slicing.values}
        codes: dict[tuple[str, ...], int] = {}
        of_number = []
        for number in numbers.tolist():
            said = dict(self.contexts[number].attributes)
            cell = tuple(_fold(said.get(name), kept[name]) for name in mix)
            of_number.append(codes.setdefault(cell, len(codes)))
        return np.array(of_number, dtype=np.int64)[of_ranking], tuple(codes)


def _fold(value: str | None, kept: set[str]) -> str:
    if value is None:
        return ""
    return value if value in kept else OTHER
