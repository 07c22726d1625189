"""Why a mean changed between two windows: which slices, by which loss, how sure."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.decomposition import find_main_loss, name_slice
from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    from rankscope.results.decomposition import Decomposition, SliceChange
    from rankscope.results.regret_change import RegretChange

    Ends: TypeAlias = tuple[float, float] | None


@record(frozen=True, slots=True, kw_only=True)
class FoundSlice:
    """A slice that a search found in one half of the clusters, and what the other half says.

    Its queries are those that the slices found before it do not have.

    Args:
        slice: The attributes and their values.
        by: Whether it was found for its mean (`within`) or for its share of the queries (`mix`).
        excess: What it adds, in the half that was searched, beyond what it would add had it changed
            as the queries that are left: too much on average, as it was chosen for it.
        unsearched_contribution: What it adds in the other half: within it, or by its mix, with what
            it adds as it entered or left.
        unsearched_interval: Around that.
        unsearched_excess: What it adds beyond the others, in the other half.
        unsearched_excess_interval: Around that, widened for the number of slices found.
        unsearched_clusters: How many clusters (or bags of them) of the other half it is in.
        is_confirmed: Whether that interval lies on the side that was searched for, with 10 clusters
            or more.
    """

    slice: tuple[tuple[str, str], ...]
    by: Literal["within", "mix"]
    excess: float
    unsearched_contribution: float
    unsearched_interval: Ends
    unsearched_excess: float
    unsearched_excess_interval: Ends
    unsearched_clusters: int
    is_confirmed: bool

    @property
    def name(self) -> str:
        """The slice as people write it, such as `device=tv, version=4`."""
        return name_slice(self.slice)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return _fields(self) | {"slice": dict(self.slice)}


@record(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A value of another attribute that is new in a slice, such as a version that was rolled out.

    Args:
        attribute: The attribute.
        text: The value.
        queries: How many queries of the slice have it after.
        share: Which share of them these are.
        mean: Their mean value.
        part: Which part of the change of the slice's mean it makes, were these queries as the slice
            was before.
        contribution: That part of what the slice adds within it.
        losses: What of the contribution each loss makes, as in `SliceChange`.
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
        """The value as people write it, such as `version=4`."""
        return name_slice(((self.attribute, self.text),))

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return _fields(self)


@record(frozen=True, slots=True, kw_only=True)
class Cause:
    """A slice that is confirmed, and what it adds over all queries.

    Where something is new in it that makes half of its change or more, such as a version that was
    rolled out, the cause is what is new, and no more than that: `device=tv, version=4`. There is
    nothing before that it could be held against but the slice around it, `device=tv`, whose line
    of the decomposition is `change`.

    Args:
        change: What the slice adds.
        by: Whether it was found for its mean (`within`) or for its share of the queries (`mix`).
        contribution: What of that it was found for: within it, or by its mix, with what it adds as
            it entered or left. Where something is new in it, what that adds.
        interval: Around that.
        arrivals: Where it was found for its mean, what is new in it and makes half of its change or
            more; that which makes most of it first.
    """

    change: SliceChange
    by: Literal["within", "mix"]
    contribution: float
    interval: Ends
    arrivals: tuple[Arrival, ...]

    @property
    def slice(self) -> tuple[tuple[str, str], ...]:
        """The attributes and values of the slice, and of what is new in it."""
        new = tuple((each.attribute, each.text) for each in self.arrivals[:1])
        return self.change.slice + new

    @property
    def name(self) -> str:
        """The slice as people write it, such as `device=tv, version=4`."""
        return name_slice(self.slice)

    @property
    def losses(self) -> dict[str, float | None]:
        """What each loss adds, as in `SliceChange`; where something is new, what that adds."""
        return self.arrivals[0].losses if self.arrivals else self.change.losses

    def main_loss(self, sign: float) -> str:
        """Name the loss that adds most in a direction.

        Args:
            sign: 1 for a rise, -1 for a fall.
        """
        return find_main_loss(self.losses, sign)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return {
            "name": self.name,
            "slice": dict(self.slice),
            "losses": dict(self.losses),
            "main_loss": self.main_loss(1.0 if self.contribution > 0 else -1.0),
            **_fields(self),
        }


@record(frozen=True, slots=True, kw_only=True)
class Search:
    """Where slices were searched for.

    Args:
        attributes: The attributes that were searched, alone and in pairs.
        left_out: Those that only one of the windows has.
        folded: By attribute, how many values stand for `<other>`, and how many queries have them.
        new: The version or model that is new after and makes half of the change or more, such as
            `version=4`: only its queries were searched after, and confirm what was found.
        looked_at: How many slices have queries.
        supported: How many of them have enough in both windows.
        support: How many are enough.
        searched: How many queries of each window were searched.
        unsearched: How many were kept to confirm what was found.
        found: How many slices were found, confirmed or not.
    """

    attributes: tuple[str, ...]
    left_out: tuple[str, ...]
    folded: Mapping[str, tuple[int, int]]
    new: str | None
    looked_at: int
    supported: int
    support: int
    searched: tuple[int, int]
    unsearched: tuple[int, int]
    found: int

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return _fields(self)


@record(frozen=True, slots=True, kw_only=True)
class Fact:
    """A mean over the queries of two windows.

    Args:
        name: What it is the mean of: `ideal`, what the ideal order adds up to; `relevant`
            documents of a query; queries `without relevant` ones; `gained`, what the list adds up
            to.
        before: Its mean before.
        after: And after.
        within: What of the change is not by the mix of the slices that were found.
        interval: Around that.
        has_changed: Whether the interval leaves out 0, and the change is 1 % of the mean or more
            (of all queries, for a share).
    """

    name: str
    before: float
    after: float
    within: float
    interval: Ends
    has_changed: bool

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return _fields(self)


@record(frozen=True, slots=True, kw_only=True)
class IdealChange:
    """Whether the ideal changed rather than the ranking: labels came, went, or were corrected.

    Args:
        facts: What there is to gain and what is gained, before and after.
        verdict: `"unchanged"`: the ideal is as it was. `"ideal"`: it changed, and what the lists
            gain did not change in the direction of the value. `"both"`: it changed, and so did what
            the lists gain. `"unclear"`: neither the value nor the ideal changed clearly.
    """

    facts: tuple[Fact, ...]
    verdict: Literal["unchanged", "ideal", "both", "unclear"]

    def __getitem__(self, name: str) -> Fact:
        """Give a fact by its name."""
        return next(fact for fact in self.facts if fact.name == name)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return {"verdict": self.verdict, "facts": [fact.to_dict() for fact in self.facts]}


@record(frozen=True, slots=True, kw_only=True)
class Paired:
    """How much the same queries changed.

    Args:
        keys: How many keys come in both windows.
        queries: How many queries of each window have one of them.
        means: Their mean value before and after; each key weighs as much as its mean share.
        change: The mean after, less that before.
        interval: Around that, by drawing keys; narrower than that of the whole change as a rule, as
            differences between queries are out of it.
        losses: What of it each loss makes, as in `SliceChange`.
        by_ideal: What of it is made by another ideal of the same query, the rest by the ranking.
        other_ideal: How many keys have another mean ideal.
        within: What the same queries add to the whole change.
        mix: What their shares add.
        entered: What keys add that come after only.
        left: What keys add that come before only.
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

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return _fields(self)


@record(frozen=True, slots=True, kw_only=True)
class Trace:
    """Why the mean of a measure changed between two windows.

    Args:
        decomposition: The whole change by the slices that are confirmed, in the order in which they
            were found, each without the queries of those before it; all other queries are the last
            slice. It adds up.
        causes: The slices that are confirmed, those first that add most.
        found: All slices that were found, and what confirms them or does not.
        intervals: Around `change` and its parts `mix`, `within`, `entered` and `left`; `None` where
            there are fewer than two clusters.
        level: The probability with which intervals cover.
        sign: 1 where what rose was searched for, -1 where what fell.
        search: Where slices were searched for.
        ideal: Whether the ideal changed.
        paired: How much the same queries changed; `None` where no key comes in both windows.
        attributes: One row an attribute: the change split by its values.
        slices: One row a slice of one attribute or two, over all queries, those first that add most
            within them in the direction of the change. They overlap, so they do not add up.
        fallen: The queries that fell most, by slice.
        regrets: What documents cost before and after, by their attributes: of all queries, and of
            each cause; none where that is not known.
        between: What the windows are, each with a `name`, where that is known.
        definition: The hash of the definition that the values are values of, likewise.
    """

    decomposition: Decomposition
    causes: tuple[Cause, ...]
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

    @property
    def measure(self) -> str:
        """The measure."""
        return self.decomposition.measure

    @property
    def change(self) -> float:
        """The mean after, less that before."""
        return self.decomposition.change

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists, which can be written as JSON."""
        return _fields(self)

    def __str__(self) -> str:
        from rankscope.results.trace_text import explain  # noqa: PLC0415 - takes these records

        return explain(self)

    def __repr__(self) -> str:
        return str(self)


def _fields(made: object) -> dict[str, object]:
    names: tuple[str, ...] = type(made).__match_args__  # type: ignore[attr-defined]  # of records
    return {name: _plain(getattr(made, name)) for name in names}


def _plain(held: object) -> object:
    """Make dicts and lists of records, tables and tuples."""
    if isinstance(held, Table):
        return [dict(zip(held.names, row, strict=True)) for row in held.rows()]
    if hasattr(held, "to_dict"):
        return held.to_dict()
    if hasattr(held, "items"):
        return {name: _plain(each) for name, each in held.items()}
    if isinstance(held, tuple):
        return [_plain(each) for each in held]
    return held
