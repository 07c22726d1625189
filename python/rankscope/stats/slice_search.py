"""Search for the slices of one or two attributes that cause a change.

The search finds one slice, removes its queries, and repeats. The slices found therefore don't
overlap, and their contributions add up. A slice is compared with the remaining queries, so nothing
is found if all of them changed alike.
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

    from rankscope.stats.shared_slices import Codes, SliceAxis

    Numbers: TypeAlias = NDArray[np.float64]
    By: TypeAlias = Literal["within", "mix"]

SIMPLER = 0.95
"""A slice of one attribute is preferred if it is at least this strong, relative to one of two."""
MOST_OF_IT = 0.8
"""The part of the contribution of a single attribute that a slice of two attributes must exceed.
Otherwise the rest of the larger slice changed too, and that slice is preferred."""


@record(frozen=True, slots=True)
class Candidate:
    """A slice that was found.

    Args:
        place: The indices of the attributes and of their values.
        by: Whether it was found because of its mean or its share.
        is_steady: Whether both windows have enough queries for a mean.
        excess: Its contribution to the change minus what it would be if the slice were like the
            others, among the searched queries.
    """

    place: tuple[tuple[int, int], ...]
    by: By
    is_steady: bool
    excess: float


@record(frozen=True, slots=True)
class _Found:
    """A slice that could be selected.

    Args:
        candidate: The slice.
        strength: How strongly it stands out.
        added: Its contribution in the direction of the search.
    """

    candidate: Candidate
    strength: float
    added: float


@record(frozen=True, slots=True)
class SliceSearch:
    """The result of a search.

    Args:
        found: The slices, in the order in which they were found, each without the queries of
            earlier ones.
        looked_at: The number of slices with queries.
        supported: The number of slices with enough queries in both windows.
    """

    found: tuple[Candidate, ...]
    looked_at: int
    supported: int


@record(frozen=True, slots=True)
class SliceGrid:
    """All slices of one or two attributes.

    Args:
        axes: The indices of the attributes.
        width: The number of values of the last attribute.
        counts: The number of queries of each slice, by window.
        sums: The sums of their values.
    """

    axes: tuple[int, ...]
    width: int
    counts: Numbers
    sums: Numbers

    def place(self, cell: int) -> tuple[tuple[int, int], ...]:
        """Return the values of a slice by attribute."""
        values = (cell,) if len(self.axes) == 1 else divmod(cell, self.width)
        return tuple(zip(self.axes, values, strict=True))


@record(frozen=True, slots=True)
class Excess:
    """How much slices differ from the rest of the remaining queries.

    Args:
        within: Their contribution through their mean, minus what it would be if their mean had
            changed in line with that of the rest.
        within_strength: The strength of `within`: multiplied by the difference of the two changes.
        mix: Their contribution through their share of the remaining queries.
        mix_strength: The strength of `mix`: multiplied by the relative change of the share.
        apart: Their contribution through their mean, minus what it would be if their mean had
            changed by the same amount as that of the rest. For two slices without common queries,
            this is additive.
    """

    within: Numbers
    within_strength: Numbers
    mix: Numbers
    mix_strength: Numbers
    apart: Numbers


def search_slices(
    axes: Sequence[SliceAxis],
    values: tuple[Numbers, Numbers],
    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    *,
    sign: float,
    support: int,
    most_found: int,
    rankers: Collection[int] = (),
) -> SliceSearch:
    """Return the slices that contribute most to a change.

    Args:
        axes: The attributes.
        values: The values of all queries, by window.
        kept: Which queries to search.
        sign: 1 to search for slices that rose, -1 for slices that fell.
        support: The number of searched queries that a slice must have in a window for a mean.
        most_found: The maximum number of slices to find.
        rankers: The indices of the attributes of the ranker, such as its version. If a value of
            one of them is only in one window, the ranker was replaced, and shares of its values
            are not a cause.
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
            SliceGrid(one.axes, one.width, one.counts - other.counts, one.sums - other.sums)
            for one, other in zip(grids, taken, strict=True)
        ]
        codes = [[each[at][~is_in[at]] for at in range(2)] for each in codes]
        rounded = [rounded[at][~is_in[at]] for at in range(2)]
    return SliceSearch(tuple(found), looked_at, supported)


def _is_replaced(grid: SliceGrid, support: int) -> bool:
    """Return whether an attribute has a value with enough queries in only one window."""
    enough = grid.counts >= support
    return bool((enough[0] ^ enough[1]).any())


def find_queries(codes: Sequence[Codes], candidate: Candidate) -> NDArray[np.bool_]:
    """Return which queries of a window are in a slice.

    Args:
        codes: The value of each query, by attribute.
        candidate: The slice.
    """
    (axis, value), *others = candidate.place
    is_in: NDArray[np.bool_] = codes[axis] == value
    for axis, value in others:
        is_in &= codes[axis] == value
    return is_in


def tabulate(
    codes: Sequence[Sequence[Codes]], sizes: Sequence[int], parts: Sequence[Sequence[Numbers]]
) -> list[SliceGrid]:
    """Return the counts and sums of all slices of one and two attributes.

    Args:
        codes: The value of each query, by attribute and window.
        sizes: The number of values of each attribute.
        parts: Numbers that add up to the values, by window, largest parts last.
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
        grids.append(SliceGrid(axes, width, counts, sums))
    return grids


def _find_one(
    grids: Sequence[SliceGrid],
    values: Sequence[Numbers],
    whole: Sequence[float],
    *,
    sign: float,
    support: int,
    replaced: AbstractSet[int],
) -> Candidate | None:
    """Return the slice that contributes most, through its mean or its share."""
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
    """Return whether the share of slices in one window is less than half of that in the other.

    If the mean of a slice is unknown in a window, its whole contribution is attributed to its
    share, which is only correct if the share changed.
    """
    shares = counts / left[:, None]
    halved: NDArray[np.bool_] = 2 * shares.min(axis=0) < shares.max(axis=0)
    return halved


def _choose(best: Sequence[_Found], single: Mapping[tuple[int, int], _Found]) -> Candidate:
    """Return the strongest slice, or a slice of a single attribute that is as good.

    A slice of one attribute is as good if it is nearly as strong, or if two attributes only select
    the part of it that changed most while the rest changed, too. They then contribute clearly less.
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
    """Return how much slices differ from the rest.

    With the mean share w and the change d of the mean, a slice contributes `w d` through its mean.
    If slice and rest had changed alike, it would contribute `w (w d + w' d') / (w + w')`. The
    excess is limited to the contribution, since a slice did not fall if only the others rose. The
    contribution through its share is that of `split_change` among the remaining queries.

    Args:
        inside: The counts and sums of slices; the last two axes are window and slice.
        outside: The counts and sums of the rest for each slice.
        whole: The number of queries before and after; the last axis is the window.
        is_steady: Whether both windows have enough queries of a slice for means. If not, its whole
            contribution is attributed to its share.
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
    """Return the number closer to 0, or 0 if it is between the two."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return np.where(one * other > 0, np.where(np.abs(one) < np.abs(other), one, other), 0.0)
