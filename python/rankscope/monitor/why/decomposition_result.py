"""The change between two windows, decomposed into exact contributions of slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope._names import as_dict
from rankscope._show.table import Table, name_rows, show

Numbers: TypeAlias = NDArray[np.float64]
T = TypeVar("T")

if TYPE_CHECKING:
    from rankscope.monitor.why.query_columns import QueryColumns


ALL = "all"
OTHERS = "all others"
LOSSES = ("retrieval", "truncation", "ordering", "undefined")


class Plain:
    """A record that leaves as dicts and lists, which can be written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as dicts and lists."""
        return {name: _plain(held) for name, held in as_dict(self).items()}


def _plain(held: object) -> object:
    """Return records, tables and tuples as dicts and lists."""
    if isinstance(held, Table):
        return name_rows(held)
    if hasattr(held, "to_dict"):
        return held.to_dict()
    if hasattr(held, "items"):
        return {name: _plain(each) for name, each in held.items()}
    if isinstance(held, tuple):
        return [_plain(each) for each in held]
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceChange:
    """The contribution of one slice to the change between two windows.

    Args:
        slice: The attributes and their values; empty for the queries that are in no other slice.
        queries: The number of queries before and after.
        shares: The share of all queries before and after.
        means: The mean value before and after; `None` if there are no queries.
        mix: The contribution of the change of its share.
        within: The contribution of the change of its mean.
        entered: Its contribution if it only has queries after.
        left: Its contribution if it only has queries before.
        losses: The contribution except for `mix`, split into `retrieval` (`None` if it isn't
            observable), `truncation`, `ordering` and `undefined`. A loss that increased is
            negative.
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
        """The slice as text, such as `device=tv, version=4`."""
        return name_slice(self.slice)

    @property
    def total(self) -> float:
        """The total contribution."""
        return self.mix + self.within + self.entered + self.left

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
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
    """Return the name of the loss that contributes most in one direction."""
    known = {name: amount for name, amount in losses.items() if amount is not None}
    return max(known, key=lambda name: known[name] * sign)


def measure_losses(
    windows: tuple[QueryColumns, QueryColumns],
    measure: Callable[[list[Numbers]], T],
    losses: Sequence[str] = LOSSES,
) -> dict[str, T | None]:
    """Return what a function makes of each loss of both windows; `None` if it isn't observable."""
    columns = {loss: [getattr(window, loss) for window in windows] for loss in losses}
    return {loss: None if held[0] is None else measure(held) for loss, held in columns.items()}


def name_slice(parts: tuple[tuple[str, str], ...]) -> str:
    """Return a slice as text."""
    return ", ".join(f"{show(name)}={show(text)}" for name, text in parts) or OTHERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(Plain):
    """The change between two windows, split by slices. The parts add up to the change.

    Args:
        measure: The measure.
        change: The mean after minus the mean before.
        means: The mean before and after.
        queries: The number of queries before and after.
        mix: The contribution of changed shares, over all slices with queries in both windows.
        within: The contribution of changed means, over the same slices.
        entered: The contribution of slices that only have queries after.
        left: The contribution of slices that only have queries before.
        losses: The change except for `mix`, split by loss as in `SliceChange`.
        slices: The contribution of each slice.
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
