"""Watches on how rankings are used: how soon labels come, and at which ranks what is relevant is.

Both compare shares of labels, or of relevant documents, with each other, and never their number: if
labels are lost, or people click less, what is left is as fast and as high in its lists as before.
"""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import AGES, RANKS
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import describe_length, describe_time
from rankscope.monitor.rules.data.counts import TOTAL
from rankscope.monitor.rules.data.labels import find_days, find_segments
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.monitor.rules.data.words import name, write_share
from rankscope.records import record
from rankscope.stats.day_shift import FEWEST_DAYS, SPANS, Shift, find_needed, find_shifts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.rules.data.counts import Segment
    from rankscope.monitor.rules.data.progress import DataProgress, RateDay
    from rankscope.monitor.rules.data.rule import DataRule
    from rankscope.monitor.rules.data.traffic import Traffic

DAYS = 28
HOURS = DAY // HOUR
SPAN = DAYS * HOURS
FEWEST_AGAIN = 3
"""How many days are enough to see that something is as usual again."""
LEAST_NEW, LEAST_OLD = 30.0, 200.0
"""How many labels, or relevant documents, the newest days and those before have at least."""
AT_AGES = tuple(hours * HOUR for hours in (1, 4, 12, 24, 72, 168))
"""The ages at which labels are looked at before they are final."""
BEHIND = 8 / 7
"""The labels of large hours are counted up to seven eighths of the age of the hour."""
SLOWER = 0.08
"""By how much the mean quantile of ages must rise, which is 0.5 where labels are as usual."""
MOVED = 0.02
"""By how much the mean discount must change, as the tolerance of a drop rule."""
AS_MANY = 0.1
DISCOUNTS = tuple(1 / float(each) for each in np.log2(np.arange(RANKS + 1) + 2.0))


@record(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of how labels are given.

    Args:
        shift: By how much, and in which days.
        label: The kind of labels that the sentence is about; empty for relevant documents.
        began: When it seems to have begun.
        age: The age of labels that were looked at; 0 for all.
        before: The usual share of labels in each place, adding up to 1.
        after: The same of the newest days.
        ratio: How many labels a ranking has, as a part of the usual number.
    """

    shift: Shift
    label: str
    began: int
    age: int
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    ratio: float = 1.0


def find_delay(
    traffic: Traffic, progress: DataProgress, segment: Segment
) -> tuple[Change, ...] | None:
    """Return by how much labels come more slowly, nothing if they don't; `None` if unknown.

    Ages are looked at as soon as the rankings of an hour are so old, and once their labels are
    final; of the labels that came by then, more are old if labels come more slowly.
    """
    window = traffic.reader.window
    ages = [age for age in AT_AGES if age < window]
    known = progress.find("label_delay", segment)
    needed = find_needed(traffic.rule.run_length, len(find_segments(progress)))
    found, is_known = [], False
    for age in (*ages, *([0] if window <= AT_AGES[-1] else [])):
        if known is not None and age != known.evidence["age"]:
            continue
        change = _judge_age(traffic, progress, segment, age, known)
        is_known = is_known or bool(change)
        found += [
            each
            for each in change
            if (known is not None and each.shift.change >= known.evidence["shift"] / 2)
            or (known is None and each.shift.score >= needed and each.shift.change >= SLOWER)
        ]
    return tuple(sorted(found, key=lambda one: -one.shift.score)) if is_known else None


def _judge_age(
    traffic: Traffic, progress: DataProgress, segment: Segment, age: int, known: Anomaly | None
) -> list[Change]:
    """Compare the ages of labels that came by an age with those of the same hours of other days."""
    reader = traffic.reader
    lag = int(age * BEHIND) if age else reader.window
    until = (traffic.moment - lag) // HOUR * HOUR
    first = (until - DAYS * DAY) // DAY * DAY
    days = [reader.read_labels(day) for day in range(first, until, DAY)]
    groups = sorted({key for day in days for key in day.ages if segment.model in {"", key[0]}})
    bins = 1 + (AGES.index(age) if age else len(AGES))
    at = (until - first) // HOUR
    none = np.zeros((HOURS, len(AGES) + 1))
    hourly = {
        key: np.concatenate([day.ages.get(key, none)[:, :bins] for day in days])[:at][-SPAN:]
        for key in groups
    }
    if not hourly:
        return []
    is_left = _leave_out("label_delay", progress, segment, until, known)
    rankings = (
        np.concatenate(
            [
                reader.read_day(day).rankings.get(segment, [0] * HOURS)
                for day in range(first, until, DAY)
            ]
        )[:at][-DAYS * HOURS :]
        .reshape(DAYS, HOURS)
        .sum(axis=1)
    )
    return _compare(
        hourly, is_left, _rank_ages, until=until, age=age, known=known, rankings=rankings
    )


def _rank_ages(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean quantile that the labels of each place have among all."""
    ranks: NDArray[np.float64] = (np.cumsum(counts) - counts / 2) / counts.sum()
    return ranks


def find_position(
    rule: DataRule, progress: DataProgress, segment: Segment, today: RateDay
) -> tuple[Change, ...] | None:
    """Return by how much relevant documents are higher or lower in lists; `None` if unknown."""
    known = progress.find("label_ranks", segment)
    until = today.day + DAY
    days = {one.day: one for one in (*find_days(progress, "label_ranks", segment), today)}
    order = [days.get(until - back * DAY) for back in range(DAYS, 0, -1)]
    models = sorted({model for one in days.values() for model in one.ranks})
    blocks = {
        (model, ""): np.array(
            [[*((one.ranks.get(model) if one else None) or [0] * (RANKS + 1))] for one in order],
            dtype=np.float64,
        )
        for model in models
        if segment.model in {"", model}
    }
    if not blocks:
        return None
    is_left = np.array([one is None for one in order])
    found = _compare(blocks, is_left, lambda _: np.array(DISCOUNTS), until=until, known=known)
    if not found:
        return None
    if known is not None:
        shift = known.evidence["shift"]
        return tuple(one for one in found if one.shift.change / shift >= 1 / 2)
    needed = find_needed(rule.run_length, len(find_segments(progress)))
    moved = [
        one for one in found if abs(one.shift.score) >= needed and abs(one.shift.change) >= MOVED
    ]
    return tuple(sorted(moved, key=lambda one: -abs(one.shift.score)))


def _leave_out(
    kind: str, progress: DataProgress, segment: Segment, until: int, known: Anomaly | None
) -> NDArray[np.bool_]:
    """Return which days of 24 hours that end with a moment nothing is learned from."""
    ends = until - np.arange(DAYS - 1, -1, -1) * DAY
    kinds, segments = {kind, "label_freshness"}, {segment, TOTAL}
    since = progress.find_restart(lambda *key: key == (kind, segment))
    is_left: NDArray[np.bool_] = ends - DAY < since
    for begin, end in progress.list_unusual(
        lambda *key: key[0] in kinds and key[1] in segments, until
    ):
        is_left |= (ends > begin) & (ends - DAY < end)
    if known is not None:
        # Whether the newest day is as usual again is what is asked.
        is_left[-1] = False
    return is_left


def _compare(
    found: Mapping[tuple[str, str], NDArray[np.float64]],
    is_left: NDArray[np.bool_],
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    until: int,
    age: int = 0,
    known: Anomaly | None,
    rankings: NDArray[np.float64] | None = None,
) -> list[Change]:
    """Compare the newest days with those before by a mean score of labels, kind by kind.

    What a kind of labels has usually is taken away from its scores, so that it makes no difference
    which kinds there are.
    """
    blocks = {
        key: counts.reshape(DAYS, -1, counts.shape[1]).sum(axis=1) for key, counts in found.items()
    }
    is_old = ~is_left
    is_old[-1 if known is not None else -max(SPANS) :] = False
    sums, squares, sizes = (np.zeros(len(is_left)) for _ in range(3))
    level, fine = 0.0, np.zeros((2, len(next(iter(found.values())))))
    usual = {}
    for key, counts in blocks.items():
        old = counts[is_old].sum(axis=0)
        if old.sum() < LEAST_OLD:
            continue
        usual[key] = old / old.sum()
        scores = score(old)
        mean = float(scores @ usual[key])
        size = counts.sum(axis=1)
        sums += counts @ (scores - mean)
        fine += found[key] @ (scores - mean), found[key].sum(axis=1)
        squares += size * float((scores - mean) ** 2 @ usual[key])
        sizes += size
        level += mean * float(size[-1])
    is_known = ~is_left & (sizes > 0)
    if not usual or not sizes[-1]:
        return []
    values, errors = np.full(len(sizes), np.nan), np.zeros(len(sizes))
    values[is_known] = sums[is_known] / sizes[is_known] + level / sizes[-1]
    errors[is_known] = squares[is_known] / sizes[is_known] ** 2
    fewest = FEWEST_DAYS if known is None else FEWEST_AGAIN
    shifts = find_shifts(values, errors, spans=SPANS if known is None else (1,), fewest=fewest)
    main = max(usual, key=lambda key: (float(blocks[key][-1].sum()), key))
    changes = []
    for shift in shifts:
        new = blocks[main][-shift.days :].sum(axis=0)
        if known is None and sizes[-shift.days :].sum() < LEAST_NEW:
            continue
        ratio = 1.0
        if rankings is not None:
            parts = (
                (sizes[-shift.days :], rankings[-shift.days :]),
                (sizes[is_old], rankings[is_old]),
            )
            rates = [each.sum() / max(of.sum(), 1.0) for each, of in parts]
            ratio = float(rates[0] / rates[1]) if rates[1] else 1.0
        after = new / new.sum() if new.sum() else usual[main]
        began = until - _find_start(fine, shift) * (DAY * DAYS // fine.shape[1])
        changes.append(
            Change(
                shift=shift,
                label=main[1],
                began=began,
                age=age,
                before=usual[main],
                after=after,
                ratio=ratio,
            )
        )
    return changes


def _find_start(fine: NDArray[np.float64], shift: Shift) -> int:
    """Return how many hours, or days, ago the shift began: since when it is the clearest."""
    sums, sizes = np.cumsum(fine[:, ::-1], axis=1)
    clear = sums * np.sign(shift.change) / np.sqrt(np.maximum(sizes, 1.0))
    longest = (shift.days + 1) * fine.shape[1] // DAYS
    return int(np.argmax(clear[:longest])) + 1


def make_delay(
    segment: Segment, changes: Sequence[Change], *, window: int, now: int, before: Anomaly | None
) -> Anomaly:
    """Make or update the anomaly of labels that come more slowly."""
    change = changes[0]
    began = change.began if before is None else before.began
    medians = [_find_median(shares, window) for shares in (change.before, change.after)]
    usual, value = (describe_length(_round(each)) for each in medians)
    labels = f"{name(change.label)} labels"
    who = f" of model {name(segment.model)}" if segment.model else ""
    half = f"half of the {labels} now take {value} instead of {usual}"
    by = describe_length(change.age or window)
    if change.age:
        half = f"of the {labels} that come within {by}, half now take {value} instead of {usual}"
    much = f"{write_share(change.ratio)} of the usual number"
    if abs(change.ratio - 1) < AS_MANY:
        much = "as many as usual"
    affected = f"come within {'' if change.age else 'the attribution window of '}{by}"
    return Anomaly(
        kind="label_delay",
        segment=segment,
        began=began,
        found=now if before is None else before.found,
        ratio=change.ratio,
        reason=f"Labels{who} come more slowly than usual since {describe_time(began)}: {half}; "
        f"{much} {affected}.",
        evidence={
            "age": change.age,
            "shift": round(change.shift.change, 4) if before is None else before.evidence["shift"],
            "score": round(change.shift.score, 2),
            "usual_median_hours": round(medians[0] / HOUR, 2),
            "median_hours": round(medians[1] / HOUR, 2),
            "number": round(change.ratio, 3),
        },
    )


def _find_median(shares: NDArray[np.float64], window: int) -> float:
    """Return the age by which half of the labels came, as if they were spread evenly in a place."""
    ends = [0, *AGES[: len(shares) - 1]]
    ends.append(max(AGES[len(shares) - 1] if len(shares) <= len(AGES) else window, ends[-1]))
    ends = [min(end, window) for end in ends]
    return float(np.interp(0.5, np.append(0.0, np.cumsum(shares)), ends))


def _round(length: float) -> int:
    """Round an age to what can be said of it: to minutes, and half hours from 2 hours on."""
    unit = 30 * MINUTE if length >= 2 * HOUR else MINUTE
    return max(unit, round(length / unit) * unit)


def make_position(
    segment: Segment, changes: Sequence[Change], *, now: int, before: Anomaly | None
) -> Anomaly:
    """Make or update the anomaly of relevant documents that are at other ranks."""
    change = changes[0]
    shift = change.shift
    began = change.began if before is None else before.began
    who = f" of model {name(segment.model)}" if segment.model else ""
    where = "higher" if shift.change > 0 else "lower"
    first = [write_share(float(shares[0])) for shares in (change.after, change.before)]
    return Anomaly(
        kind="label_ranks",
        segment=segment,
        began=began,
        found=now if before is None else before.found,
        ratio=1.0,
        reason=f"Relevant documents{who} are {where} in their lists than usual since "
        f"{describe_time(began)}: {first[0]} are at the first rank instead of {first[1]}, and "
        f"their mean discount is {shift.value:.3f} instead of {shift.usual:.3f}.",
        evidence={
            "shift": round(shift.change, 4) if before is None else before.evidence["shift"],
            "score": round(shift.score, 2),
            "discount": round(shift.value, 4),
            "usual_discount": round(shift.usual, 4),
            "first_rank": round(float(change.after[0]), 4),
            "usual_first_rank": round(float(change.before[0]), 4),
        },
    )
