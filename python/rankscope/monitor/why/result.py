"""The causes of a change between two windows: slices, losses and confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rankscope._show.table import Table
from rankscope.monitor.why.decomposition_result import (
    Decomposition,
    Plain,
    SliceChange,
    find_main_loss,
    name_slice,
)
from rankscope.monitor.why.document_regrets import RegretChange

Ends: TypeAlias = tuple[float, float] | None


EVERYWHERE = "everywhere"
"""The name of a change of all queries that are in no other slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSlice(Plain):
    """A slice that stands out, with the test of whether that may be chance.

    Queries that are in a slice found earlier don't count.

    Args:
        slice: The attributes and their values; empty for the change of all queries.
        by: Whether it was found because of its mean (`within`) or its share of queries (`mix`).
        difference: The change of its mean without what the additive effects of all attributes
            explain, or the change of its share.
        interval: The interval of this difference. It holds for all searched slices together, so it
            isn't too narrow although the slice was selected for its change.
        statistic: The difference in standard errors.
        p_value: The probability that any slice stands out as much where nothing changed, from
            reassigning users between the windows.
        is_confirmed: Whether the p-value is at most the level of the search.
    """

    slice: tuple[tuple[str, str], ...]
    by: Literal["within", "mix"]
    difference: float
    interval: Ends
    statistic: float
    p_value: float
    is_confirmed: bool

    @property
    def name(self) -> str:
        """The slice as text, such as `device=tv, version=4`, or `everywhere`."""
        return name_slice(self.slice) if self.slice else EVERYWHERE

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {"name": self.name} | Plain.to_dict(self) | {"slice": dict(self.slice)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival(Plain):
    """A value of another attribute that is new in a slice, such as a version that was rolled out.

    Args:
        attribute: The attribute.
        text: The value.
        queries: The number of queries of the slice that have it after.
        share: Their share of the slice.
        mean: Their mean value.
        part: The part of the change of the slice's mean that it causes, compared with the slice
            before.
        contribution: The same part of the contribution of the slice's mean.
        losses: The contribution by loss, as in `SliceChange`.
    """

    attribute: str
    text: str
    queries: int
    share: float
    mean: float
    part: float
    contribution: float
    losses: dict[str, float | None]

    @property
    def name(self) -> str:
        """The attribute and value as text, such as `version=4`."""
        return name_slice(((self.attribute, self.text),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Plain):
    """A confirmed slice, or everything, with its contribution over all queries.

    If a new value of another attribute causes at least half of the change, such as a version that
    was rolled out, the cause is narrowed down to it: `device=tv, version=4`. There are no such
    queries before, so it is compared with the whole slice before, `device=tv`, whose row of the
    decomposition is `change`.

    Args:
        change: The contribution of the slice.
        by: Whether it was found because of its mean (`within`) or its share of queries (`mix`).
        contribution: The part of the contribution that it was found for: through its mean or its
            share, including queries that entered or left. With a new value, its contribution.
        interval: The confidence interval of this contribution, for this slice alone.
        arrivals: If it was found because of its mean, the new values that cause at least half of
            its change, largest part first.
    """

    change: SliceChange
    by: Literal["within", "mix"]
    contribution: float
    interval: Ends
    arrivals: tuple[Arrival, ...]

    @property
    def slice(self) -> tuple[tuple[str, str], ...]:
        """The attributes and values of the slice, including the new value."""
        new = tuple((each.attribute, each.text) for each in self.arrivals[:1])
        return self.change.slice + new

    @property
    def name(self) -> str:
        """The slice as text, such as `device=tv, version=4`, or `everywhere`."""
        return name_slice(self.slice) if self.slice else EVERYWHERE

    @property
    def losses(self) -> dict[str, float | None]:
        """The contribution by loss, as in `SliceChange`, of the new value if there is one."""
        return self.arrivals[0].losses if self.arrivals else self.change.losses

    def main_loss(self, sign: float) -> str:
        """Return the name of the loss that contributes most in one direction."""
        return find_main_loss(self.losses, sign)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "name": self.name,
            "slice": dict(self.slice),
            "losses": dict(self.losses),
            "main_loss": self.main_loss(1.0 if self.contribution > 0 else -1.0),
            **Plain.to_dict(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Plain):
    """The scope of the search for slices.

    Args:
        attributes: The attributes that were searched, alone and in pairs.
        left_out: The attributes that only one of the windows has.
        folded: For each attribute, the number of values combined as `<other>`, and of their
            queries.
        new: The version or model that is new after and causes at least half of the change, such as
            `version=4`. If set, only its queries after are searched.
        looked_at: The number of slices with queries.
        supported: The number of slices with enough queries in both windows.
        support: The number of queries that is enough.
        searched: The number of queries of each window that were searched.
        level: The probability that a cause is named where nothing changed.
        permutations: The number of times that users were reassigned between the windows.
    """

    attributes: tuple[str, ...]
    left_out: tuple[str, ...]
    folded: Mapping[str, tuple[int, int]]
    new: str | None
    looked_at: int
    supported: int
    support: int
    searched: tuple[int, int]
    level: float
    permutations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Plain):
    """A mean over the queries of two windows.

    Args:
        name: The quantity: `ideal`, the DCG of the ideal; `relevant`, the number of relevant
            documents per query; `without relevant`, the share of queries without any; or `gained`,
            the DCG of the list.
        before: The mean before.
        after: The mean after.
        within: The change without that due to the shares of the slices found.
        interval: The confidence interval of this change.
        has_changed: Whether the interval doesn't include 0, and the change is at least 1 % of the
            mean (or of all queries, for a share).
    """

    name: str
    before: float
    after: float
    within: float
    interval: Ends
    has_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IdealChange(Plain):
    """Whether the ideal changed, because labels were added, removed or corrected.

    Args:
        verdict: `"unchanged"`: the ideal didn't change. `"ideal"`: the ideal changed, but the gains
            of the lists didn't change in the direction of the value. `"both"`: the ideal and the
            gains of the lists changed. `"unclear"`: neither value nor ideal changed clearly.
        facts: The means of the ideal and of the lists, before and after.
    """

    verdict: Literal["unchanged", "ideal", "both", "unclear"]
    facts: tuple[Fact, ...]

    def __getitem__(self, name: str) -> Fact:
        """Return a fact by its name."""
        return next(fact for fact in self.facts if fact.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired(Plain):
    """The change of the queries that occur in both windows.

    Args:
        keys: The number of query keys that occur in both windows.
        queries: The number of queries of each window that have one of these keys.
        means: Their mean value before and after. Each key is weighted by its mean share.
        change: The mean after minus the mean before.
        interval: The confidence interval, from a bootstrap over keys. It is usually narrower than
            that of the whole change, because it excludes differences between queries.
        losses: The change by loss, as in `SliceChange`.
        by_ideal: The part of the change due to a different ideal of the same query. The rest is due
            to the ranking.
        other_ideal: The number of keys with a different mean ideal.
        within: The contribution of these queries to the whole change through their means.
        mix: Their contribution through their shares.
        entered: The contribution of keys that only occur after.
        left: The contribution of keys that only occur before.
    """

    keys: int
    queries: tuple[int, int]
    means: tuple[float, float]
    change: float
    interval: Ends
    losses: dict[str, float | None]
    by_ideal: float
    other_ideal: int
    within: float
    mix: float
    entered: float
    left: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(Plain):
    """The sample of users that was traced, and how far the result may be from that of all users.

    Counts of queries are those of the sample. The intervals and tests of the trace are about the
    users in it and hold with a sample, too; the errors here are only what the sample adds to a
    trace of all rankings.

    Args:
        rates: The probability that a user is in the sample, by window.
        rankings: How many rankings the windows have, with those that are not in the sample or have
            no final value.
        errors: The standard errors of the change and its parts, as in `Trace.intervals`; `None`
            with fewer than two users.
        contributions: The standard error of the contribution of each cause, by its name.
        shares: The standard error of the share of each cause in the change.
    """

    rates: tuple[float, float]
    rankings: tuple[int, int]
    errors: Mapping[str, float | None]
    contributions: Mapping[str, float | None]
    shares: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Plain):
    """The causes of the change of a mean between two windows.

    Args:
        decomposition: The whole change, split exactly by the confirmed slices in the order in which
            they were found, each without the queries of earlier ones. All other queries are the
            last slice.
        causes: The slices whose quality changed, in the order in which they were found: the one
            that stands out most first. The last may be the change everywhere else.
        shifts: The slices that moved the mean by their share of the queries, without a change of
            quality, in the order in which they were found.
        found: The same slices with the tests that confirmed them, strongest first. If no cause is
            confirmed, the first is the slice that stands out most.
        intervals: The confidence intervals of `change` and its parts `mix`, `within`, `entered` and
            `left`; `None` with fewer than two clusters.
        level: The confidence level of the intervals.
        sign: 1 if slices and queries that rose are listed first, -1 for those that fell.
        search: The scope of the search.
        ideal: Whether the ideal changed.
        paired: The change of queries that occur in both windows; `None` if there are none.
        attributes: One row per attribute: the change split by its values.
        slices: One row per slice of one or two attributes, over all queries, largest contribution
            in the direction of the change first. Slices overlap, so the rows don't add up.
        fallen: The queries that fell most, by slice.
        regrets: The regrets of documents before and after by attributes of the documents, for all
            queries and for each cause; empty if unknown.
        between: The windows, each with a `name`, if known.
        definition: The hash of the definition of the values, if known.
        sampling: The sample of users that was traced; `None` if all were.
        facts: What changed in the lists of the first cause at the same time, at most three signals
            with the largest change first: each has `signal`, `model`, `version`, `slice`, `before`,
            `after`, `rankings`, `since` and a `sentence`. Empty where nothing changed, and where
            that isn't known.
    """

    decomposition: Decomposition
    causes: tuple[Cause, ...]
    shifts: tuple[Cause, ...]
    found: tuple[FoundSlice, ...]
    intervals: Mapping[str, Ends]
    level: float
    sign: float
    search: Search
    ideal: IdealChange
    paired: Paired | None
    attributes: Table
    slices: Table
    fallen: Table
    regrets: tuple[RegretChange, ...] = ()
    between: tuple[Mapping[str, object], Mapping[str, object]] | None = None
    definition: str | None = None
    sampling: Sampling | None = None
    facts: tuple[Mapping[str, object], ...] = ()

    @property
    def measure(self) -> str:
        """The measure."""
        return self.decomposition.measure

    @property
    def change(self) -> float:
        """The mean after minus the mean before."""
        return self.decomposition.change

    def __str__(self) -> str:
        from rankscope.monitor.why.text import explain

        return explain(self)

    def __repr__(self) -> str:
        return str(self)
