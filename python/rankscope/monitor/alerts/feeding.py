"""Feeds rules the periods that are known for good: in order, and each one once."""

from __future__ import annotations

from rankscope.monitor.alerts.observing import name_drops, observe
from rankscope.monitor.alerts.stream import Stream
from rankscope.monitor.folding import choose_versions
from rankscope.monitor.limits import DAY
from rankscope.monitor.slicing import OTHER
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankscope.monitor.alerts.floors import Floors
    from rankscope.monitor.alerts.progress import Progress
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.alerts.sample import Sample
    from rankscope.monitor.folding import Folding, Pair
    from rankscope.monitor.slicing import Slice, Slicing
    from rankscope.monitor.store.chunks import Context

LEAVE = 2 * DAY
"""A version that shows nothing for so long, while others of its rule do, is watched no more."""


def feed(
    progress: Progress,
    rule: Rule,
    period: Sample,
    *,
    contexts: Mapping[int, Context],
    slicing: Slicing,
    floors: Floors,
) -> Progress:
    """Let a rule look at the next period.

    A rule watches the versions with the most rankings in the period; of two with as many, one that
    it has watched before. All others are one stream of their model, named `<other>`.

    Streams start with the first period in which their version and slice have rankings and the
    baseline has enough of theirs; with it their floor is made, which stays. Where labels are late,
    the period tells nothing, so that a lack of labels is never taken for a drop.

    Args:
        progress: What was concluded so far.
        rule: The rule.
        period: The rankings of that period in production, of all models.
        contexts: What they have in common.
        slicing: Which values have slices of their own.
        floors: Finds what values are held against.
    """
    start = progress.following
    watched = {(stream.model, stream.version) for stream in progress.streams}
    folding = _choose(rule, period, contexts, watched)
    groups = group_contexts(rule, period, contexts, folding)
    shown = {(model, version) for model, version, _ in groups}
    whole = [numbers for (_, _, place), numbers in groups.items() if not place]
    rows = period.find([number for numbers in whole for number in numbers])
    labelled = int(period.is_labelled[rows].sum())
    counted = replace(progress.count(len(rows), labelled), following=start + rule.length)
    is_late = counted.has_late_labels
    known = {
        stream.key: stream
        for stream in progress.streams
        if stream.key[:2] in folding.pairs or OTHER in stream.key[:2]
    }
    for key in groups:
        if key not in known and is_kept(key[2], slicing):
            known[key] = Stream(model=key[0], version=key[1], slice=key[2])
    streams = []
    for key, stream in sorted(known.items()):
        absent = 0 if key[:2] in shown else stream.absent + (rule.length if shown else 0)
        if absent >= LEAVE:
            continue
        followed = replace(stream, absent=absent)
        numbers = groups.get(key)
        if numbers and not is_late:
            if followed.floor is None:
                followed = _hold(followed, rule, floors)
            if followed.floor is not None:
                rows = period.find(numbers)
                values, users = period.values[rule.measure][rows], period.clusters[rows]
                followed = observe(followed, rule, start, values, users)
        streams.append(followed)
    if rule.kind == "drop":
        streams = name_drops(streams, rule)
    return replace(
        counted, streams=tuple(streams), passed_over=progress.passed_over + (1 if is_late else 0)
    )


def _hold(stream: Stream, rule: Rule, floors: Floors) -> Stream:
    """Find what a stream is held against."""
    held = floors.find(rule, *stream.key)
    return replace(stream, floor=held.floor, baseline=held.baseline, reason=held.reason)


def _choose(
    rule: Rule, period: Sample, contexts: Mapping[int, Context], watched: set[Pair]
) -> Folding:
    """Choose the versions that have streams of their own."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    weights = dict.fromkeys(watched, 1)
    numbers, counts = np.unique(period.contexts, return_counts=True)
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        context = contexts[number]
        if rule.model in {None, context.model}:
            pair = context.model, context.version
            weights[pair] = weights.get(pair, 0) + 2 * count
    return choose_versions(weights)


def group_contexts(
    rule: Rule, period: Sample, contexts: Mapping[int, Context], folding: Folding | None = None
) -> dict[tuple[str, str, Slice], list[int]]:
    """Return the contexts of each version and slice that a rule watches, as far as there are any.

    Args:
        rule: The rule.
        period: The rankings.
        contexts: What they have in common.
        folding: Which versions are watched on their own; all of them by default.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    groups: dict[tuple[str, str, Slice], list[int]] = {}
    for number in np.unique(period.contexts).tolist():
        context = contexts[number]
        if rule.model is not None and context.model != rule.model:
            continue
        said = dict(context.attributes)
        places: Iterable[Slice] = (
            (),
            *(((name, said[name]),) for name in rule.slices if name in said),
        )
        pair = context.model, context.version
        model, version = pair if folding is None else folding.place(*pair)
        for place in places:
            groups.setdefault((model, version, place), []).append(number)
    return groups


def is_kept(place: Slice, slicing: Slicing) -> bool:
    """Whether a slice is one of its own, and not only a part of `<other>`."""
    values = dict(slicing.values)
    return all(value in values.get(name, ()) for name, value in place)
