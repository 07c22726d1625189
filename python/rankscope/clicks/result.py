"""The value of a policy, estimated from the log of another."""

from __future__ import annotations

import math

from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import format_share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.output.table import Cell

NAMES = {
    "ips": "inverse propensity scoring",
    "clipped": "clipped IPS, a lower limit where weights were clipped",
    "snips": "self-normalized IPS",
    "dr": "doubly robust",
}
"""What the estimators are called in full."""


class OffPolicyEvaluation(Printed, Table):
    """A table with what a new policy would have got by each estimator, and what the log got.

    There is one row per estimator. `value` is the estimate with its interval in `lower` and
    `upper`. `change` is the difference from the value of the log, with its interval in
    `change lower` and `change upper`. `effective` is the effective number of weighted rows,
    `rewarded` that of rows with a reward, and `largest share` the share of the largest weight in
    the sum of all. If these are too small, `refused` says why there is no interval.

    The properties `value`, `lower`, `upper`, `change` and so on are those of the estimator
    `method`.

    Examples:
        >>> import rankscope as rs
        >>> log = {"click": [1, 0] * 200, "propensity": [0.5] * 400, "target": [0.75, 0.25] * 200}
        >>> found = rs.evaluate_off_policy(log, target="target")
        >>> found.method, found.value, found.logged, found.lower < 0.75 < found.upper
        ('snips', 0.75, 0.5, True)
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Cell]],
        *,
        method: str,
        level: float,
        what: str,
        n: int,
        clusters: int | None,
        logged: tuple[float, float, float],
        mean_weight: tuple[float, float, float],
        unsupported: float | None,
        clip: float,
        notes: tuple[str, ...],
    ) -> None:
        super().__init__(columns)
        self._method = method
        self._level = level
        self._what = what
        self._n = n
        self._clusters = clusters
        self._logged = logged
        self._mean_weight = mean_weight
        self._unsupported = unsupported
        self._clip = clip
        self._notes = notes

    @property
    def method(self) -> str:
        """The estimator of `value`, one of: `"ips"`, `"clipped"`, `"snips"`, `"dr"`."""
        return self._method

    @property
    def level(self) -> float:
        """The confidence level of the intervals."""
        return self._level

    @property
    def n(self) -> int:
        """The number of rows of the log."""
        return self._n

    @property
    def clusters(self) -> int | None:
        """The number of clusters; `None` if rows are independent."""
        return self._clusters

    @property
    def value(self) -> float:
        """What the new policy would have got."""
        return self._number("value")

    @property
    def lower(self) -> float:
        """The lower end of the interval of the value; NaN if there is none."""
        return self._number("lower")

    @property
    def upper(self) -> float:
        """The upper end of the interval of the value; NaN if there is none."""
        return self._number("upper")

    @property
    def change(self) -> float:
        """The value of the new policy minus that of the log."""
        return self._number("change")

    @property
    def change_lower(self) -> float:
        """The lower end of the interval of the change; NaN if there is none."""
        return self._number("change lower")

    @property
    def change_upper(self) -> float:
        """The upper end of the interval of the change; NaN if there is none."""
        return self._number("change upper")

    @property
    def effective(self) -> float:
        """The effective number of weighted rows."""
        return self._number("effective")

    @property
    def reason(self) -> str:
        """Why there is no interval; empty if there is one."""
        return str(self._find("refused"))

    @property
    def logged(self) -> float:
        """What the log got."""
        return self._logged[0]

    @property
    def logged_ends(self) -> tuple[float, float]:
        """The interval of `logged`; NaN if the log is too small for one."""
        return self._logged[1:]

    @property
    def mean_weight(self) -> float:
        """The mean weight, which is 1 except for chance if propensities and support are right."""
        return self._mean_weight[0]

    @property
    def mean_weight_ends(self) -> tuple[float, float]:
        """The interval of `mean_weight`."""
        return self._mean_weight[1:]

    @property
    def unsupported(self) -> float | None:
        """The share of the new policy's choices that the log never shows; `None` if unknown."""
        return self._unsupported

    @property
    def clip(self) -> float:
        """The largest weight of clipped IPS."""
        return self._clip

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the estimates."""
        return self._notes

    def _find(self, name: str) -> Cell:
        at = self.column("estimator").index(self._method)
        return self.column(name)[at]

    def _number(self, name: str) -> float:
        found = self._find(name)
        return found if isinstance(found, float) else math.nan

    def _parts(self) -> list[str | Table]:
        rows = [dict(zip(self.names, cells, strict=True)) for cells in self.rows()]
        shown = {
            "": ["log", *(str(row["estimator"]) for row in rows)],
            self._what: [_show(self.logged), *(_show(row["value"]) for row in rows)],
            f"{100 * self._level:g}% interval": [
                _show_ends(*self.logged_ends),
                *(_show_ends(row["lower"], row["upper"]) for row in rows),
            ],
            "change": ["", *(_show(row["change"], sign=True) for row in rows)],
            "interval": [
                "",
                *(_show_ends(row["change lower"], row["change upper"], sign=True) for row in rows),
            ],
            "effective n": [f"{self._n:,}", *(f"{row['effective']:,.1f}" for row in rows)],
        }
        return [Table(shown, numbers=[*shown][1:]), "", *self._describe()]

    __repr__ = Printed.__str__

    def _describe(self) -> list[str]:
        lines = [self._decide()]
        refused: dict[str, list[str]] = {}
        for name, reason in zip(self.column("estimator"), self.column("refused"), strict=True):
            if reason:
                refused.setdefault(str(reason), []).append(str(name))
        lines += [
            f"no interval of {', '.join(names)}: {reason}" for reason, names in refused.items()
        ]
        mean, low, high = self._mean_weight
        if not math.isnan(mean):
            ends = "no interval" if math.isnan(low) else f"interval {low:.4f} to {high:.4f}"
            lines.append(f"mean weight (1 expected): {mean:.4f}, {ends}")
        lines.append(
            f"largest weight's share of all: {format_share(float(self._number('largest share')))}"
        )
        if self._unsupported is not None:
            share = format_share(self._unsupported)
            lines.append(f"choices of the new policy that the log never shows: {share}")
        if self._clusters is not None:
            plural = "s" * (self._clusters != 1)
            lines.append(f"intervals over {self._clusters:,} cluster{plural}")
        return [*lines, *(f"note: {note}" for note in self._notes)]

    def _decide(self) -> str:
        """Return the verdict of the chosen estimator."""
        if self.reason:
            return (
                f"The log is too small, or too different, to tell which is better ({self._method})."
            )
        if self.change_lower > 0:
            return f"The new policy is better than the log ({NAMES[self._method]})."
        if self.change_upper < 0:
            return f"The new policy is worse than the log ({NAMES[self._method]})."
        return f"The log doesn't tell which is better ({NAMES[self._method]})."


def _show(cell: Cell, *, sign: bool = False) -> str:
    if not isinstance(cell, float) or math.isnan(cell):
        return "–"
    return f"{cell:+.4g}" if sign else f"{cell:.4g}"


def _show_ends(low: Cell, high: Cell, *, sign: bool = False) -> str:
    if not isinstance(low, float) or math.isnan(low):
        return "none"
    if not isinstance(high, float) or math.isnan(high):
        return f"{_show(low, sign=sign)} or more"
    return f"{_show(low, sign=sign)} to {_show(high, sign=sign)}"
