"""Comparison of two versions of a model over the time in which both serve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from rankscope._show.table import format_value
from rankscope.errors import EmptyError, UsageError
from rankscope.monitor.ask.compared_lists import ListDistance, compare_lists
from rankscope.monitor.ask.compared_rankings import MOST_RANKINGS, RankingSource
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.baseline import find_contexts
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.sequential.comparison import (
    FEWEST_USERS,
    Difference,
    find_factor,
    follow_difference,
)
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import Context, Version
from rankscope.monitor.store.store import StoreReader

Verdict: TypeAlias = Literal["better", "worse", "no difference yet"]


TARGET = 0.02
"""The difference for which the days to come are counted."""
MOST_DAYS = 1000
LEAST_MISSING = 0.005
"""A smaller share of missing documents is 0 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedDay:
    """The difference as of a day, from all rankings since both versions serve.

    Args:
        day: When the day begins, in UTC.
        is_final: Whether no label can change the values of that day any more.
        difference: The difference.
    """

    day: datetime
    is_final: bool
    difference: Difference

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        difference = self.difference
        return {
            "day": format_time(self.day),
            "is_final": self.is_final,
            "difference": difference.value,
            "lower": make_plain(difference.lower),
            "upper": make_plain(difference.upper),
            "old_mean": difference.old,
            "new_mean": difference.new,
            "users": list(difference.users),
            "rankings": list(difference.rankings),
            "explained": difference.explained,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionComparison:
    """Two versions of a model over the time in which both serve.

    Args:
        measure: The measure.
        model: The model.
        old: The version that was shown first.
        new: The other one.
        slice: Pairs of an attribute and its value; empty for all rankings.
        since: From when both serve, in UTC.
        until: Until when, in UTC.
        level: The probability that the intervals of all days contain the true difference.
        days: The difference as of each day.
        lists: How far lists of the new version differ from the last ones of the old version for the
            same query keys; `None` where both have none.
        old_lists: How far those of the old version differ from its own earlier ones; likewise.
        days_to_target: About how many more days it takes until a difference of 0.02 could be found;
            0 if it could be by now, `None` if that can't be foreseen.
    """

    measure: str
    model: str
    old: str
    new: str
    slice: Slice
    since: datetime
    until: datetime
    level: float
    days: tuple[ComparedDay, ...]
    lists: ListDistance | None
    old_lists: ListDistance | None
    days_to_target: int | None

    @property
    def newest(self) -> ComparedDay:
        """The newest final day, or the newest day if none is final."""
        return next((day for day in reversed(self.days) if day.is_final), self.days[-1])

    @property
    def difference(self) -> Difference:
        """The difference as of the newest final day."""
        return self.newest.difference

    @property
    def is_final(self) -> bool:
        """Whether the difference is from final values."""
        return self.newest.is_final

    @property
    def verdict(self) -> Verdict:
        """Whether the new version is better or worse, or neither is known yet."""
        difference = self.difference
        if difference.is_better:
            return "better"
        return "worse" if difference.is_worse else "no difference yet"

    @property
    def sentence(self) -> str:
        """The verdict in a sentence or two."""
        said = self._say()
        return said[0].upper() + said[1:] if self.is_final else f"Provisional: {said}"

    @property
    def lists_sentence(self) -> str:
        """How far their lists differ, in a sentence; empty where it isn't known."""
        if self.lists is None:
            return ""
        many = f"{self.lists.queries:,} {'query' if self.lists.queries == 1 else 'queries'}"
        new, old = _name(self.new), _name(self.old)
        said = (
            f"For the same {many}, lists of {new} overlap {self.lists.overlap:.0%} with those of "
        )
        said += old
        if self.old_lists is not None:
            said += (
                f"; those of {old} overlap {self.old_lists.overlap:.0%} with its own earlier ones"
            )
        if self.lists.missing < LEAST_MISSING:
            return f"{said}."
        return f"{said}. Of the first 10 documents of {old}, {self.lists.missing:.0%} are missing."

    def _say(self) -> str:
        difference = self.difference
        new, old = _name(self.new), _name(self.old)
        if not difference.has_interval:
            return (
                f"{new} can't be compared with {old} yet: each needs about {FEWEST_USERS} users "
                f"who count alike, and the smaller one has {difference.effective_users:.0f}."
            )
        amount = f"{self.measure} {describe_difference(difference)}"
        if self.verdict != "no difference yet":
            return f"{new} is {self.verdict} than {old}: {amount}."
        more = ""
        if self.days_to_target:
            days = "1 more day" if self.days_to_target == 1 else f"{self.days_to_target} more days"
            more = f" A difference of {TARGET:.2f} could be found in about {days}."
        elif difference.lower > -TARGET and difference.upper < TARGET:
            more = f" If there is one, it is below {TARGET:.2f}."
        return f"no difference found yet between {new} and {old}: {amount}.{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            **write_record(self, ("measure", "model", "old", "new")),
            "slice": dict(self.slice),
            **write_record(self, ("since", "until", "level")),
            "verdict": self.verdict,
            "sentence": self.sentence,
            **write_record(self, ("lists", "old_lists")),
            "lists_sentence": self.lists_sentence,
            **self.newest.to_dict(),
            "days_to_target": self.days_to_target,
            "target": TARGET,
            "days": [day.to_dict() for day in self.days],
        }


def describe_difference(difference: Difference) -> str:
    """Return a difference with its interval, such as `+0.0120 (−0.0031 to +0.0271)`."""
    value, *ends = (_sign(each) for each in (difference.value, difference.lower, difference.upper))
    return f"differs by {value} ({' to '.join(ends)})"


def _name(version: str) -> str:
    return f"version {version}" if version else "the version without a name"


def _sign(number: float) -> str:
    return f"{'−' if number < 0 else '+'}{format_value(abs(number))}"


def list_pairs(
    versions: Iterable[Version], *, model: str | None = None, fewest: int = HOUR
) -> Iterator[tuple[Version, Version]]:
    """Yield the pairs of versions of a model that served at the same time, the newest ones first.

    Of each, the version that was shown first comes first. A switch from one to the other, host by
    host, compares nothing: they served together for `fewest` microseconds.
    """
    listed = [
        version
        for version in versions
        if not version.folded
        and OTHER not in {version.model, version.version}
        and model in {None, version.model}
    ]
    for at in range(len(listed) - 1, -1, -1):
        later = listed[at]
        for earlier in listed[at - 1 :: -1] if at else ():
            together = min(earlier.last, later.last) - max(earlier.first, later.first)
            if earlier.model == later.model and together >= fewest:
                yield earlier, later


def find_pair(
    versions: Sequence[Version],
    *,
    model: str | None = None,
    old: str | None = None,
    new: str | None = None,
) -> tuple[Version, Version] | None:
    """Return two versions of a model that served at the same time, the older one first.

    These are the newest version and, of those before it, the newest one that served with it.
    """
    are_named = old is not None and new is not None
    for pair in list_pairs(versions, model=model, fewest=0 if are_named else HOUR):
        # Where both are named, in whichever order they were first shown.
        for one, other in (pair, pair[::-1]) if are_named else (pair,):
            if old in {None, one.version} and new in {None, other.version}:
                return one, other
    return None


def compare_served(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    *,
    now: int,
    measure: str | None = None,
    model: str | None = None,
    old: str | None = None,
    new: str | None = None,
    place: Slice = (),
    since: int | None = None,
    until: int | None = None,
    level: float = 0.95,
    most: int = MOST_RANKINGS,
    threads: int | None = None,
) -> VersionComparison:
    """Compare two versions of a model over the time in which both serve."""
    definition = configuration.definition
    alone = definition.only(definition.measures[-1] if measure is None else measure)
    versions = list_versions(store, project)
    _check_name("model", model, (each.model for each in versions))
    for name in (old, new):
        theirs = (each.version for each in versions if model in {None, each.model})
        _check_name("version", name, theirs)
    _check_slice(configuration, place)
    pair = find_pair(versions, model=model, old=old, new=new)
    if pair is None:
        raise _refuse("no two versions of a model served at the same time")
    everyone = store.contexts(project)
    contexts = _choose(everyone, pair[0].model, pair[0].version, place)
    contexts |= _choose(everyone, pair[1].model, pair[1].version, place)
    begin = max(one.first for one in pair)
    end = min(*(one.last for one in pair), now) + 1
    if since is not None:
        begin = max(begin, since)
    if until is not None:
        end = min(end, until)
    source = RankingSource(store, project, alone, now, most, threads)
    rows = source.read(contexts, begin, end)
    if rows is None:
        raise _refuse("the versions have no values at the same time")
    known = source.read_queries(_choose(everyone, pair[1].model, None, place), begin)
    found = follow_difference(
        rows.value,
        rows.cluster,
        rows.find(contexts, pair[1].version),
        rows.day,
        cell=rows.place(contexts, configuration.attributes),
        covariate=rows.look_up(known),
        level=level,
    )
    if not found:
        raise _refuse("the versions have no values on the same day")
    window = definition.window * SECOND
    days = tuple(
        ComparedDay(
            day=to_datetime(day * DAY),
            is_final=min((day + 1) * DAY, end) + window <= now,
            difference=difference,
        )
        for day, difference in found
    )
    lists, old_lists = compare_lists(
        store, project, contexts, (pair[0].version, pair[1].version), since=begin, until=end
    )
    return VersionComparison(
        measure=alone.measures[0].name,
        model=pair[1].model,
        old=pair[0].version,
        new=pair[1].version,
        slice=place,
        since=to_datetime(begin),
        until=to_datetime(end),
        level=level,
        days=days,
        lists=lists,
        old_lists=old_lists,
        days_to_target=_count_days([one for one in days if one.is_final] or days),
    )


def _choose(
    contexts: Mapping[int, Context], model: str, version: str | None, place: Slice
) -> dict[int, Context]:
    chosen = find_contexts(contexts, "production", model, version)
    return {number: one for number, one in chosen.items() if set(place) <= set(one.attributes)}


def _check_name(what: str, name: str | None, known: Iterable[str]) -> None:
    """Refuse a model or a version that no ranking has."""
    there = list(dict.fromkeys(known))
    if name is not None and name not in there:
        raise UsageError(
            f"there are no rankings of {what} {name!r:.120}",
            hint=f"name one of {', '.join(filter(None, there[-10:])) or 'those that are logged'}",
            code="unknown_version",
        )


def _check_slice(configuration: Configuration, place: Slice) -> None:
    for name, _ in place:
        if name not in configuration.attributes:
            raise UsageError(
                f"there is no attribute {name!r:.120}",
                hint=f"the configured ones are {', '.join(configuration.attributes) or 'none'}",
                code="unknown_slice",
            )


def _refuse(what: str) -> EmptyError:
    return EmptyError(
        what,
        hint="serve both versions to different users at the same time for some days",
        code="empty_input",
    )


def _count_days(days: Sequence[ComparedDay]) -> int | None:
    """Return about how many more days it takes until the target could be found."""
    last = days[-1].difference
    if last.error <= 0 or last.effective_users <= 0 or len(days) < 2:
        return None
    # As many pairs of rankings a day as in the last days.
    earlier = days[max(len(days) - 8, 0)]
    passed = (days[-1].day - earlier.day).days
    before = 1 / earlier.difference.error**2 if earlier.difference.error > 0 else 0.0
    a_day = (1 / last.error**2 - before) / max(passed, 1)
    if a_day <= 0:
        return None
    for more in range(MOST_DAYS):
        growth = 1 + more * a_day * last.error**2
        users = last.effective_users * growth
        half = last.error / math.sqrt(growth) * find_factor(users, 1 - last.level)
        if half <= TARGET and users >= FEWEST_USERS:
            return more
    return None
