"""Whether people look less far down, where relevant documents are at other ranks than usual.

Clicks move up if people look less far down, and if the order got better. Documents that were shown
for the same query before and after tell these apart: what they are worth is the same, so their
clicks compare how often people look at the ranks where they were (see `clicks.harvesting`).
"""

from __future__ import annotations

import math
from itertools import product

from rankscope._core import EMPTY_VALUES
from rankscope.clicks.harvesting import Places, compare_places
from rankscope.clicks.reliability import find_ends
from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import RANKS
from rankscope.monitor.evaluate.values import ChunkPlan
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.expect.lists import evaluate_lists, list_measures
from rankscope.monitor.rules.data.labels import find_days
from rankscope.monitor.rules.data.shown import (
    ALIKE,
    CLUSTERS,
    FEWEST_PAIRS,
    MOST_KEPT,
    MOST_READ,
    pair,
)
from rankscope.monitor.store.chunks import offsets_of
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.clicks.harvesting import Shown
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.rules.data.counts import Counts
    from rankscope.monitor.rules.data.progress import Anomaly, DataProgress
    from rankscope.monitor.rules.data.shown import Rankings

    Numbers = NDArray[np.float64]

LEVEL = 0.95
CLEAR = 0.99
"""The confidence with which it is said that people look less far down."""
DAYS = 7
"""The newest days of a change that are looked at."""
KNOWN = 0.9
"""The share of relevant documents at ranks whose examination is known, at least."""
MATTERS = 0.25
"""The part of the shift that a change of examination must make up, to be named."""
NO_MATTER = 0.5
"""The part of the shift that it may make up at most, to say that it isn't the reason."""
MOST_LABELS = 6
MOST_LISTS = 2_000_000
MANY = 0.01
"""The share of rankings with more relevant documents than that, at most."""
SMALL = 1e-5
DISCOUNTS = 1 / np.log2(np.arange(RANKS) + 2.0)


@record(frozen=True, slots=True, kw_only=True)
class Examination:
    """How often people look at ranks before and after.

    Args:
        places: The ranks before, and those after, compared with each other.
        changes: By rank, from 0, how often people look at it now, in proportion to before.
        shift: By how much the mean discount of relevant documents changes, with its interval, if
            the order remains.
        clear: The same interval with more confidence.
    """

    places: Places
    changes: dict[int, float]
    shift: tuple[float, float, float]
    clear: tuple[float, float]

    def judge(self, least: float) -> str:
        """Say how people look, if they clearly look otherwise by more than this; else nothing."""
        low, high = self.clear
        return "less far" if low > least else "further" if high < -least else ""

    def list_ranks(self) -> dict[int, dict[str, list[float]]]:
        """Return how often people look at ranks, relative to rank 1, with intervals.

        `after` and `before` are unknown where no documents link the rank with rank 1 by then, and
        `ratio` is the one divided by the other.
        """
        found = {}
        for rank in [rank for rank in self.changes if rank]:
            asked = {
                "ratio": ([RANKS + rank, 0], [RANKS, rank]),
                "after": ([RANKS + rank], [RANKS]),
                "before": ([rank], [0]),
            }
            contrasts = {
                name: [round(each, 4) for each in self.places.contrast(plus, minus, LEVEL)]
                for name, (plus, minus) in asked.items()
            }
            found[rank + 1] = {
                name: each for name, each in contrasts.items() if not any(map(math.isnan, each))
            }
        return {rank: each for rank, each in found.items() if "ratio" in each}


def explain(
    reader: Counts,
    progress: DataProgress,
    anomaly: Anomaly,
    told: Mapping[str, Any],
    *,
    today: int,
    now: int,
) -> Anomaly:
    """Say whether people look less far down since an anomaly began, and what that does to nDCG.

    It is found out anew each day until as many days are known as are looked at; `told` is what was
    said last.
    """
    if told.get("days", 0) < DAYS:
        first = max(anomaly.began // DAY * DAY, today - (DAYS - 1) * DAY)
        usual = [one.day for one in find_days(progress, anomaly.kind, anomaly.segment)]
        chosen = [
            _limit(reader, days)
            for days in (
                [day for day in usual[::-1] if day < first],
                [*range(today, first - DAY, -DAY)],
            )
        ]
        share = min(1.0, *(MOST_KEPT / max(count, 1) for _, count in chosen))
        before, after = (
            reader.read_rankings(anomaly.segment.model, days, share, now) for days, _ in chosen
        )
        told = {
            "days": len(range(first, today + DAY, DAY)),
            **describe(before, after, anomaly.evidence["shift"], reader.configuration.definition),
        }
    return replace(
        anomaly,
        reason=f"{anomaly.reason} {told['said']}",
        evidence={**anomaly.evidence, "examination": told},
    )


def _limit(reader: Counts, days: list[int]) -> tuple[list[int], int]:
    """Return as many of some days as may be read, the first in any case, and their rankings."""
    counts = np.cumsum([sum(reader.read_day(day).sizes.values()) for day in days], dtype=np.int64)
    fits = max(1, int((counts <= MOST_READ).sum()))
    return days[:fits], int(counts[:fits][-1]) if days else 0


def describe(
    before: Rankings, after: Rankings, shift: float, definition: Definition
) -> dict[str, Any]:
    """Say in sentences what rankings of two times tell, with the numbers."""
    down, order = ("less far", "better") if shift > 0 else ("further", "worse")
    unknown = f"It isn't known whether people look {down} down or the order got {order}"
    why = _find_obstacle(before) or _find_obstacle(after)
    shares = np.bincount(before.ranks[before.grades > 0], minlength=RANKS + 1)[1:].astype(float)
    of_all, of_first = pair(before, after)
    found = None if why else compare(of_all, shares)
    ranks = {} if found is None else found.list_ranks()
    if found is None or not ranks:
        few = "too few documents were shown for the same query before and after, and clicked"
        return {"said": f"{unknown}: {why or few}.", "verdict": "unknown"}
    rank = min(ranks, key=lambda each: (abs(each - 5), each))
    told = _tell_rank(rank, ranks[rank])
    least = MATTERS * abs(shift)
    verdict = found.judge(least)
    said = f"{unknown}: {told}."
    if verdict:
        # Who has found something looks less far down, too. So the same must be seen where nothing
        # above was relevant; that alone would compare people who click more rarely.
        again = compare(of_first, shares)
        if again is not None and again.judge(least) == verdict:
            said = f"People look {verdict} down: {told}."
        else:
            verdict = "unknown"
            said = f"{unknown}: {told}, but not clearly so where nothing above is relevant."
    elif max(abs(each) for each in found.shift[1:]) < NO_MATTER * abs(shift):
        verdict = "as before"
        otherwise = "So the order changed, or what people look for."
        said = f"People look about as far down as before: {told}. {otherwise}"
    numbers: dict[str, Any] = {
        "verdict": verdict or "unknown",
        "shift": [round(each, 4) for each in found.shift],
        "ranks": {str(each): numbers for each, numbers in ranks.items()},
    }
    is_other = numbers["verdict"] in {"less far", "further"}
    value = reweigh(before, after, found, definition) if is_other else None
    if value is not None:
        numbers |= value
        said += f" {_tell_value(value)}"
    return {"said": said, **numbers}


def _find_obstacle(rankings: Rankings) -> str:
    """Return why the lists of a query can't be compared; empty if they can."""
    if len(rankings) and not rankings.has_key.any():
        return "rankings have no query key, so it isn't known which lists are of the same query"
    alike, pairs = rankings.measure_likeness()
    if pairs < FEWEST_PAIRS:
        return "too few lists are of the same query and day"
    if alike < ALIKE:
        return (
            f"lists of the same query and day differ at {100 * (1 - alike):.0f}% of their ranks, "
            "so documents may be higher for people who like them"
        )
    return ""


def _tell_rank(rank: int, found: Mapping[str, list[float]]) -> str:
    if "before" in found and "after" in found:
        now, then = (found[name] for name in ("after", "before"))
        return (
            f"rank {rank} is examined {now[0]:.2f} times as often as rank 1 (95% interval: "
            f"{now[1]:.2f} to {now[2]:.2f}), before {then[0]:.2f} ({then[1]:.2f} to {then[2]:.2f})"
        )
    value, low, high = found["ratio"]
    return (
        f"compared with rank 1, rank {rank} is examined {value:.2f} times as often as before "
        f"(95% interval: {low:.2f} to {high:.2f})"
    )


def _tell_value(found: Mapping[str, Any]) -> str:
    before, after = found["value_before"], found["value_after"]
    value, low, high = found["value_with_former"]
    verb = "rose" if after > before else "fell"
    return (
        f"{found['measure']} {verb} from {before:.3f} to {after:.3f}; with the examination of "
        f"before, it would be {value:.3f} (95% interval: {low:.3f} to {high:.3f})."
    )


def compare(shown: Shown, shares: Numbers) -> Examination | None:
    """Compare how often people look at ranks before and after; `None` if too little is known.

    Args:
        shown: What was shown at each rank before, and at each after.
        shares: How many relevant documents were at each rank, and deeper, before.
    """
    places = compare_places(shown, 2 * RANKS)
    contrasts = {at: places.contrast([RANKS + at], [at], LEVEL) for at in range(RANKS)}
    changes = {at: each[0] for at, each in contrasts.items() if not any(map(math.isnan, each))}
    known = [*changes]
    if 0 not in changes or shares[known].sum() < KNOWN * shares.sum():
        return None
    size = np.array([*changes.values()]) * shares[known]
    moved = float(size @ DISCOUNTS[known] / size.sum())
    value = moved - float(shares[known] @ DISCOUNTS[known] / shares[known].sum())
    slopes = size * (DISCOUNTS[known] - moved) / size.sum()
    influences = _take_changes(places, known) @ slopes
    ends, clear = (find_ends(value, influences, None, level) for level in (LEVEL, CLEAR))
    return Examination(places=places, changes=changes, shift=(value, *ends), clear=clear)


def _take_changes(places: Places, ranks: list[int]) -> Numbers:
    """Return what clusters add to the errors of the logarithms of changes."""
    later = [RANKS + rank for rank in ranks]
    return places.influences[:, later] - places.influences[:, ranks]


def reweigh(
    before: Rankings, after: Rankings, found: Examination, definition: Definition
) -> dict[str, Any] | None:
    """Return nDCG before and after, and after with the examination of before.

    A label at a rank that people look at less often now counts for more than one: 1 divided by the
    change (inverse propensity). nDCG depends on all labels of a list, so each combination of them
    counts by the product over its labels, and over those that it lacks by 1 less their weight. That
    is without bias for any measure where people look at each rank independently of others.
    """
    measure = next(iter(list_measures(definition)), None)
    if measure is None or definition.attribution.unlabelled:
        return None
    labels = np.bincount(after.owners[after.grades > 0], minlength=len(after))
    lists = (2.0 ** np.minimum(labels, MOST_LABELS)).sum()
    if (labels > MOST_LABELS).mean() > MANY or lists > MOST_LISTS:
        return None
    old, new = (
        _combine(rankings, ChunkPlan.of(definition.only(measure)), most)
        for rankings, most in ((before, 0), (after, MOST_LABELS))
    )
    known, logs = [*found.changes], -np.log([*found.changes.values()])
    # A rank that isn't known is taken for the nearest one above it that is.
    nearest = np.searchsorted(known, np.arange(RANKS + 1), side="right") - 1
    value, influences = _average(new, np.exp(logs)[nearest])
    moved = np.exp(logs + SMALL * np.eye(len(known)))[:, nearest]
    slopes = np.array([_average(new, weights)[0] - value for weights in moved]) / SMALL
    of_changes = _take_changes(found.places, known) @ slopes
    influences[: len(of_changes)] -= of_changes
    plain = np.ones(RANKS + 1)
    ends = find_ends(value, influences, None, LEVEL)
    return {
        "measure": measure.name,
        "value_before": round(_average(old, plain)[0], 4),
        "value_after": round(_average(new, plain)[0], 4),
        "value_with_former": [round(each, 4) for each in (value, *ends)],
    }


@record(frozen=True, slots=True)
class Combinations:
    """Lists of one number of labels with all combinations of these.

    Args:
        ranks: int64 [lists, labels], the ranks of the labels, from 0; `RANKS` for deeper ones.
        values: float64 [lists, combinations], the values; NaN where the mean skips the list.
        clusters: The clusters of the lists.
    """

    ranks: NDArray[np.int64]
    values: Numbers
    clusters: NDArray[np.int64]


def _combine(rankings: Rankings, plan: ChunkPlan, most: int) -> list[Combinations]:
    """Evaluate lists with all combinations of their labels; those with more labels as they are."""
    rows = np.flatnonzero(rankings.grades > 0)
    rows = rows[np.lexsort((rankings.ranks[rows], rankings.owners[rows]))]
    labels = np.bincount(rankings.owners[rows], minlength=len(rankings))
    starts, fill = offsets_of(labels), EMPTY_VALUES.get(plan.definition.policy.empty)
    made = []
    for count in np.unique(labels).tolist():
        lists = np.flatnonzero(labels == count)
        at = rows[starts[lists][:, None] + np.arange(count)]
        is_combined = count <= most
        has = _list_all(count) if is_combined else np.ones((1, count), dtype=np.bool_)
        chosen = np.broadcast_to(has, (len(lists), *has.shape))
        ranks, grades = (
            np.broadcast_to(column[at][:, None, :], chosen.shape)[chosen]
            for column in (rankings.ranks, rankings.grades)
        )
        values, *_ = evaluate_lists(plan, chosen.sum(axis=2).ravel(), ranks, grades)
        if fill is not None:
            values = np.where(np.isnan(values), fill, values)
        places = np.minimum(rankings.ranks[at] - 1, RANKS) if is_combined else at[:, :0]
        made.append(Combinations(places, values.reshape(len(lists), -1), rankings.clusters[lists]))
    return made


def _list_all(count: int) -> NDArray[np.bool_]:
    """Return all combinations of labels, as whether each has each label."""
    return np.array([*product((False, True), repeat=count)], dtype=np.bool_)


def _average(lists: list[Combinations], weights: Numbers) -> tuple[float, Numbers]:
    """Return the mean with labels weighted by their ranks, and what each cluster adds to it."""
    sums = np.zeros((2, CLUSTERS))
    for each in lists:
        has = _list_all(each.ranks.shape[1])
        of_labels = weights[each.ranks][:, None, :]
        weight = np.where(has, of_labels, 1 - of_labels).prod(axis=2)
        is_defined = ~np.isnan(each.values)
        for row, column in enumerate((np.where(is_defined, each.values, 0.0), is_defined)):
            added = (weight * column).sum(axis=1)
            sums[row] += np.bincount(each.clusters, weights=added, minlength=CLUSTERS)
    total, count = sums.sum(axis=1)
    value = float(total / count)
    return value, (sums[0] - value * sums[1]) / count
