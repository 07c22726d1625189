"""What makes the change between two windows, slice by slice, adding up to all of it."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.table import Table
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.table import Cell

ALL = "all"
OTHERS = "all others"
LOSSES = ("retrieval", "truncation", "ordering", "undefined")


@record(frozen=True, slots=True, kw_only=True)
class SliceChange:
    """What one slice adds to the change between two windows.

    Args:
        slice: The attributes and their values; none for the queries of no other slice.
        queries: How many queries it has before and after.
        shares: Which share of all queries these are.
        means: Their mean value; `None` where there are none.
        mix: What it adds because its share changed.
        within: What it adds because its mean changed.
        entered: What it adds because it has queries after only.
        left: What it adds because it has queries before only.
        losses: What it adds but for its mix, by `retrieval` (`None` where it is not observable),
            `truncation`, `ordering` and `undefined`; a loss that grew has a negative number.
    """

    slice: tuple[tuple[str, str], ...]
    queries: tuple[int, int]
    shares: tuple[float, float]
    means: tuple[float | None, float | None]
    mix: float
    within: float
    entered: float
    left: float
    losses: dict[str, float | None]

    @property
    def name(self) -> str:
        """The slice as people write it, such as `device=tv, version=4`."""
        return name_slice(self.slice)

    @property
    def total(self) -> float:
        """All that it adds."""
        return self.mix + self.within + self.entered + self.left

    def main_loss(self, sign: float) -> str:
        """Name the loss that adds most in a direction.

        Args:
            sign: 1 for a rise, -1 for a fall.
        """
        return find_main_loss(self.losses, sign)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return {
            "slice": dict(self.slice),
            "queries": [*self.queries],
            "shares": [*self.shares],
            "means": [*self.means],
            "total": self.total,
            "mix": self.mix,
            "within": self.within,
            "entered": self.entered,
            "left": self.left,
            "losses": dict(self.losses),
        }


def find_main_loss(losses: dict[str, float | None], sign: float) -> str:
    """Name the loss that adds most in a direction."""
    known = {name: amount for name, amount in losses.items() if amount is not None}
    return max(known, key=lambda name: known[name] * sign)


def name_slice(parts: tuple[tuple[str, str], ...]) -> str:
    """Write a slice as people do."""
    return ", ".join(f"{show(name)}={show(text)}" for name, text in parts) or OTHERS


@record(frozen=True, slots=True, kw_only=True)
class Decomposition:
    """The change between two windows, split by slices; all parts add up to it.

    Args:
        measure: The measure.
        change: The mean after, less that before.
        means: The mean before and after.
        queries: How many queries there are before and after.
        mix: What changed shares add, over all slices with queries in both windows.
        within: What changed means add, over the same.
        entered: What slices add that have queries after only.
        left: What slices add that have queries before only.
        losses: Of what is not mix, what each loss adds, as in `SliceChange`.
        slices: What each slice adds.
    """

    measure: str
    change: float
    means: tuple[float, float]
    queries: tuple[int, int]
    mix: float
    within: float
    entered: float
    left: float
    losses: dict[str, float | None]
    slices: tuple[SliceChange, ...]

    @property
    def table(self) -> Table:
        """One row a slice: its queries, means and what it adds."""
        columns: dict[str, list[Cell]] = {
            "slice": [each.name for each in self.slices],
            "queries before": [each.queries[0] for each in self.slices],
            "queries after": [each.queries[1] for each in self.slices],
            "before": [each.means[0] for each in self.slices],
            "after": [each.means[1] for each in self.slices],
            "total": [each.total for each in self.slices],
            "mix": [each.mix for each in self.slices],
            "within": [each.within for each in self.slices],
            "entered": [each.entered for each in self.slices],
            "left": [each.left for each in self.slices],
        }
        columns |= {name: [each.losses[name] for each in self.slices] for name in LOSSES}
        return Table(columns)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return {
            "measure": self.measure,
            "change": self.change,
            "means": [*self.means],
            "queries": [*self.queries],
            "mix": self.mix,
            "within": self.within,
            "entered": self.entered,
            "left": self.left,
            "losses": dict(self.losses),
            "slices": [each.to_dict() for each in self.slices],
        }

    def __str__(self) -> str:
        return str(self.table)

    def __repr__(self) -> str:
        return str(self)
