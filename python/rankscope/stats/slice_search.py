"""Searches the slices of one attribute, and of two, for those that make a change.

It finds one slice, leaves its queries out, and searches again, so that what it finds does not
overlap and adds up. A slice is compared with the queries that are left besides it: nothing is found
where all of them changed alike.
"""

from __future__ import annotations

from itertools import combinations

from rankscope.records import record
from rankscope.stats.change_split import divide
from rankscope.stats.exact_sums import take_high_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.stats.shared_slices import Axis, Codes

    Numbers: TypeAlias = NDArray[np.float64]
    By: TypeAlias = Literal["within", "mix"]

SIMPLER = 0.95
"""A slice of one attribute is found before one of two that is stronger by less than this."""
MOST_OF_IT = 0.8
"""A slice of two attributes adds more than this of what each of them adds alone, or the one that
adds more is found instead: the rest of it changed, too."""


@record(frozen=True, slots=True)
class Candidate:
    """A slice that was found.

    Args:
        place: Which attributes, by their number, and which of their values.
        by: Whether it was found for its mean or for its share.
        is_steady: Whether there are enough queries in both windows for a mean of each.
        excess: What it adds to the change beyond what it would add if it were as the others, among
            the queries that were searched.
    """

    place: tuple[tuple[int, int], ...]
    by: By
    is_steady: bool
    excess: float


@record(frozen=True, slots=True)
class _Found:
    """A slice that may be chosen.

    Args:
        candidate: The slice.
        strength: How strongly it stands out.
        added: What it adds in the direction that is searched for.
    """

    candidate: Candidate
    strength: float
    added: float


@record(frozen=True, slots=True)
class Search:
    """What a search found.

    Args:
        found: The slices that were found, in this order; the queries of each are those that the
            ones before it do not have.
        looked_at: How many slices have queries.
        supported: How many of them have enough in both windows.
    """

    found: tuple[Candidate, ...]
    looked_at: int
    supported: int


@record(frozen=True, slots=True)
class Grid:
    """All slices of one attribute, or of two.

    Args:
        axes: The numbers of the attributes.
        width: How many values the last of them has.
        counts: How many queries each slice has, by window.
        sums: What their values add up to.
    """

    axes: tuple[int, ...]
    width: int
    counts: Numbers
    sums: Numbers

    def place(self, cell: int) -> tuple[tuple[int, int], ...]:
        """Name the values of a slice by attribute."""
        values = (cell,) if len(self.axes) == 1 else divmod(cell, self.width)
        return tuple(zip(self.axes, values, strict=True))


@record(frozen=True, slots=True)
class Excess:
    """How far slices are unlike the rest of the queries that are left.

    Args:
        within: What they add by their mean beyond what they would if it had changed as the rest's.
        within_strength: How strongly this stands out: times the difference of the two changes.
        mix: What they add by their share of the queries that are left.
        mix_strength: Likewise, times the relative change of that share.
        apart: What they add by their mean beyond what they would if it had changed by as much as
            the rest's. What two slices without common queries add so, they add together.
    """

    within: Numbers
    within_strength: Numbers
    mix: Numbers
    mix_strength: Numbers
    apart: Numbers


def search_slices(
    axes: Sequence[Axis],
    values: tuple[Numbers, Numbers],
    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    *,
    sign: float,
    support: int,
    most_found: int,
    rankers: Collection[int] = (),
) -> Search:
    """Search for the slices that add most to a change.

    Args:
        axes: The attributes.
        values: The values of all queries, by window.
        kept: Which queries are searched.
        sign: 1 to search for what rose, -1 for what fell.
        support: How many searched queries a slice must have in a window for a mean.
        most_found: How many slices are found at most.
        rankers: The numbers of the attributes that say who ranked. Where only one window has a
            value of one of them, ranking changed hands: no share of its values is a cause.
    """
    codes = [[axis.codes[at][kept[at]] for at in range(2)] for axis in axes]
    rounded = [take_high_part(values[at][kept[at]], len(values[at])) for at in range(2)]
    sizes = [len(axis.texts) for axis in axes]
    grids = tabulate(codes, sizes, [rounded])
    looked_at = sum(int(grid.counts.any(axis=0).sum()) for grid in grids)
    supported = sum(int((grid.counts >= support).all(axis=0).sum()) for grid in grids)
    whole = [float(len(each)) for each in rounded]
    replaced = {at for at in rankers if _is_replaced(grids[at], support)}
    found: list[Candidate] = []
    while min(map(len, rounded)) and len(found) < most_found:
        candidate = _find_one(grids, rounded, whole, sign=sign, support=support, replaced=replaced)
        if candidate is None:
            break
        found.append(candidate)
        is_in = [find_queries([each[at] for each in codes], candidate) for at in range(2)]
        taken = tabulate(
            [[each[at][is_in[at]] for at in range(2)] for each in codes],
            sizes,
            [[rounded[at][is_in[at]] for at in range(2)]],
        )
        grids = [
            Grid(one.axes, one.width, one.counts - other.counts, one.sums - other.sums)
            for one, other in zip(grids, taken, strict=True)
        ]
        codes = [[each[at][~is_in[at]] for at in range(2)] for each in codes]
        rounded = [rounded[at][~is_in[at]] for at in range(2)]
    return Search(tuple(found), looked_at, supported)


def _is_replaced(grid: Grid, support: int) -> bool:
    """Tell whether only one window has enough queries of a value of an attribute."""
    enough = grid.counts >= support
    return bool((enough[0] ^ enough[1]).any())


def find_queries(codes: Sequence[Codes], candidate: Candidate) -> NDArray[np.bool_]:
    """Tell which queries of a window are in a slice.

    Args:
        codes: Of each attribute, the value of each query.
        candidate: The slice.
    """
    (axis, value), *others = candidate.place
    is_in: NDArray[np.bool_] = codes[axis] == value
    for axis, value in others:
        is_in &= codes[axis] == value
    return is_in


def tabulate(
    codes: Sequence[Sequence[Codes]], sizes: Sequence[int], parts: Sequence[Sequence[Numbers]]
) -> list[Grid]:
    """Count and add up the values of all slices of one attribute, and of two.

    Args:
        codes: Of each attribute and window, the value of each query.
        sizes: How many values each attribute has.
        parts: By window, numbers that add up to the values, those of the largest part last.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    grids = []
    numbers = range(len(codes))
    for axes in [*((axis,) for axis in numbers), *combinations(numbers, 2)]:
        width = sizes[axes[-1]]
        cells = width if len(axes) == 1 else sizes[axes[0]] * width
        counts, sums = np.zeros((2, cells)), np.zeros((2, cells))
        for at in range(2):
            cell = codes[axes[0]][at]
            if len(axes) == 2:
                cell = cell * np.int32(width) + codes[axes[1]][at]
            counts[at] = np.bincount(cell, minlength=cells)
            for part in parts:
                sums[at] += np.bincount(cell, part[at], minlength=cells)
        grids.append(Grid(axes, width, counts, sums))
    return grids


def _find_one(
    grids: Sequence[Grid],
    values: Sequence[Numbers],
    whole: Sequence[float],
    *,
    sign: float,
    support: int,
    replaced: AbstractSet[int],
) -> Candidate | None:
    """Find the slice that adds most, by its mean or by its share."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    left = np.array([float(len(each)) for each in values])
    total = np.array([float(each.sum()) for each in values])
    best: dict[By, list[_Found]] = {"within": [], "mix": []}
    single: dict[By, dict[tuple[int, int], _Found]] = {"within": {}, "mix": {}}
    for grid in grids:
        rest = left[:, None] - grid.counts, total[:, None] - grid.sums
        enough = grid.counts >= support
        is_steady = enough[0] & enough[1]
        excess = measure_excess((grid.counts, grid.sums), rest, np.array(whole), is_steady)
        can = {
            "within": is_steady & (rest[0] >= support).all(axis=0),
            "mix": (is_steady | ((enough[0] | enough[1]) & _has_come_or_gone(grid.counts, left)))
            & replaced.isdisjoint(grid.axes),
        }
        for by, stronger in best.items():
            amount = excess.within if by == "within" else excess.mix
            strength = excess.within_strength if by == "within" else excess.mix_strength
            strength = np.where(can[by] & (amount * sign > 0), strength, 0.0)
            if not len(strength) or strength.max() <= 0:
                continue
            added = excess.apart if by == "within" else excess.mix
            cells = [int(strength.argmax())]
            is_simple = len(grid.axes) == 1
            if is_simple:
                cells += np.flatnonzero(strength).tolist()
            found = [
                _Found(
                    Candidate(grid.place(cell), by, bool(is_steady[cell]), float(amount[cell])),
                    float(strength[cell]),
                    sign * float(added[cell]),
                )
                for cell in cells
            ]
            stronger.append(found[0])
            if is_simple:
                single[by] |= {each.candidate.place[0]: each for each in found}
    chosen = [_choose(each, single[by]) for by, each in best.items() if each]
    return max(chosen, key=lambda each: each.excess * sign) if chosen else None


def _has_come_or_gone(counts: Numbers, left: Numbers) -> NDArray[np.bool_]:
    """Whether slices have less than half of their share in one window; else it hardly matters.

    What a slice adds whose mean is not known in a window is all taken to be by its share, which is
    right only where that is what changed.
    """
    shares = counts / left[:, None]
    halved: NDArray[np.bool_] = 2 * shares.min(axis=0) < shares.max(axis=0)
    return halved


def _choose(best: Sequence[_Found], single: Mapping[tuple[int, int], _Found]) -> Candidate:
    """Choose the strongest slice, or one of a single attribute instead that is as good.

    That is one nearly as strong, or one of which two attributes pick the part that changed most,
    while the rest of it changed, too: then they add clearly less than it does.
    """
    least = SIMPLER * max(each.strength for each in best)
    simple = [each for each in best if len(each.candidate.place) == 1 and each.strength >= least]
    chosen = max(simple or best, key=lambda each: each.strength)
    around = [single[each] for each in chosen.candidate.place if each in single]
    wider = [each for each in around if MOST_OF_IT * each.added >= chosen.added]
    return max(wider, key=lambda each: each.added, default=chosen).candidate


def measure_excess(
    inside: tuple[Numbers, Numbers],
    outside: tuple[Numbers, Numbers],
    whole: Numbers,
    is_steady: NDArray[np.bool_],
) -> Excess:
    """Measure how far slices are unlike the rest.

    With the mean share w of slice and rest and the change d of their means, a slice adds within it
    `w d`; had both changed alike, it would add `w (w d + w' d') / (w + w')`. What is beyond that is
    never more than what it adds: a slice did not fall where only the others rose. By its share it
    adds what `split_change` says, among the queries that are left.

    Args:
        inside: Counts and sums of slices; the last two axes are window and slice.
        outside: Those of all that is left besides each.
        whole: How many queries there are before and after; the last axis is the window.
        is_steady: Whether both windows have enough queries of a slice for means of their own; else
            all that it adds is by its share.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    counts, other_counts = inside[0], outside[0]
    means, others = divide(inside[1], counts), divide(outside[1], other_counts)
    weight = (counts / whole[..., None]).mean(axis=-2)
    other_weight = (other_counts / whole[..., None]).mean(axis=-2)
    change = means[..., 1, :] - means[..., 0, :]
    unlike = change - (others[..., 1, :] - others[..., 0, :])
    both = np.maximum(weight + other_weight, np.finfo(np.float64).tiny)
    comparable = (counts > 0).all(axis=-2) & (other_counts > 0).all(axis=-2)
    beyond = weight * other_weight / both * unlike
    within = np.where(comparable, _take_nearer(weight * change, beyond), 0.0)

    left = np.maximum(counts + other_counts, 1)
    shares = counts / left
    centre = ((inside[1] + outside[1]) / left).mean(axis=-2)
    grown = shares[..., 1, :] - shares[..., 0, :]
    one_sided = shares * (means - centre[..., None, :])
    mix = both * np.where(
        is_steady,
        grown * (means.mean(axis=-2) - centre),
        one_sided[..., 1, :] - one_sided[..., 0, :],
    )
    mean_share = np.maximum(shares.mean(axis=-2), np.finfo(np.float64).tiny)
    return Excess(
        within,
        np.abs(within * _take_nearer(change, unlike)),
        mix,
        np.abs(mix * grown) / mean_share,
        np.where(comparable, _take_nearer(weight * change, weight * unlike), 0.0),
    )


def _take_nearer(one: Numbers, other: Numbers) -> Numbers:
    """Take the number that is nearer to 0; 0 where it lies between the two."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return np.where(one * other > 0, np.where(np.abs(one) < np.abs(other), one, other), 0.0)
