"""The value of a policy, estimated from the log of another."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope._show import Printed
from rankscope._show.table import Table, format_share
from rankscope.clicks.estimators import Ends, Estimate

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

    Attributes:
        method: The estimator of the attributes below, one of: `"ips"`, `"clipped"`, `"snips"`,
            `"dr"`.
        value: What the new policy would have got.
        lower: The lower end of the interval of the value; NaN if there is none.
        upper: The upper end of the interval of the value; NaN if there is none.
        change: The value of the new policy minus that of the log.
        change_lower: The lower end of the interval of the change; NaN if there is none.
        change_upper: The upper end of the interval of the change; NaN if there is none.
        effective: The effective number of weighted rows.
        reason: Why there is no interval; empty if there is one.
        logged: What the log got.
        logged_ends: The interval of `logged`; NaN if the log is too small for one.
        mean_weight: The mean weight, which is 1 except for chance if propensities and support are
            right.
        mean_weight_ends: The interval of `mean_weight`.
        unsupported: The share of the new policy's choices that the log never shows; `None` if
            unknown.
        level: The confidence level of the intervals.
        n: The number of rows of the log.
        clusters: The number of clusters; `None` if rows are independent.
        clip: The largest weight of clipped IPS.
        notes: What limits the estimates.

    Examples:
        >>> import rankscope as rs
        >>> log = {"click": [1, 0] * 200, "propensity": [0.5] * 400, "target": [0.75, 0.25] * 200}
        >>> result = rs.clicks.evaluate_off_policy(log, target="target")
        >>> result.method, result.value, result.logged, result.lower < 0.75 < result.upper
        ('snips', 0.75, 0.5, True)
    """

    def __init__(
        self,
        estimates: Mapping[str, Estimate],
        *,
        method: str,
        level: float,
        what: str,
        n: int,
        clusters: int | None,
        logged: Estimate,
        mean_weight: tuple[float, Ends],
        unsupported: float | None,
        clip: float,
        notes: tuple[str, ...],
    ) -> None:
        rows = [*estimates.values()]
        super().__init__(
            {
                "estimator": [*estimates],
                "value": [row.value for row in rows],
                "lower": [row.ends[0] for row in rows],
                "upper": [row.ends[1] for row in rows],
                "change": [row.change for row in rows],
                "change lower": [row.change_ends[0] for row in rows],
                "change upper": [row.change_ends[1] for row in rows],
                "effective": [row.reliability.effective for row in rows],
                "rewarded": [row.reliability.rewarded for row in rows],
                "largest share": [row.reliability.largest_share for row in rows],
                "refused": [row.reason for row in rows],
            }
        )
        chosen = estimates[method]
        self.method, self.level, self.n, self.clusters = method, level, n, clusters
        self.value, (self.lower, self.upper) = chosen.value, chosen.ends
        self.change, (self.change_lower, self.change_upper) = chosen.change, chosen.change_ends
        self.effective, self.reason = chosen.reliability.effective, chosen.reason
        self.logged, self.logged_ends = logged.value, logged.ends
        self.mean_weight, self.mean_weight_ends = mean_weight
        self.unsupported, self.clip, self.notes = unsupported, clip, notes
        self._estimates, self._what = estimates, what

    def _parts(self) -> list[str | Table]:
        rows = [*self._estimates.values()]
        shown = {
            "": ["log", *self._estimates],
            self._what: [_show(self.logged), *(_show(row.value) for row in rows)],
            f"{100 * self.level:g}% interval": [
                _show_ends(self.logged_ends),
                *(_show_ends(row.ends) for row in rows),
            ],
            "change": ["", *(_show(row.change, "+") for row in rows)],
            "interval": ["", *(_show_ends(row.change_ends, "+") for row in rows)],
            "effective n": [
                f"{self.n:,}",
                *(f"{row.reliability.effective:,.1f}" for row in rows),
            ],
        }
        return [Table(shown, numbers=[*shown][1:]), "", *self._describe()]

    __repr__ = Printed.__str__

    def _describe(self) -> list[str]:
        lines = [self._decide()]
        for reason in dict.fromkeys(row.reason for row in self._estimates.values() if row.reason):
            names = [name for name, row in self._estimates.items() if row.reason == reason]
            lines.append(f"no interval of {', '.join(names)}: {reason}")
        mean, (low, high) = self.mean_weight, self.mean_weight_ends
        if not math.isnan(mean):
            ends = "no interval" if math.isnan(low) else f"interval {low:.4f} to {high:.4f}"
            lines.append(f"mean weight (1 expected): {mean:.4f}, {ends}")
        largest = format_share(self._estimates[self.method].reliability.largest_share)
        lines.append(f"largest weight's share of all: {largest}")
        if self.unsupported is not None:
            share = format_share(self.unsupported)
            lines.append(f"choices of the new policy that the log never shows: {share}")
        if self.clusters is not None:
            plural = "s" * (self.clusters != 1)
            lines.append(f"intervals over {self.clusters:,} cluster{plural}")
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def _decide(self) -> str:
        """Return the verdict of the chosen estimator."""
        if self.reason:
            return (
                f"The log is too small, or too different, to tell which is better ({self.method})."
            )
        if self.change_lower > 0:
            return f"The new policy is better than the log ({NAMES[self.method]})."
        if self.change_upper < 0:
            return f"The new policy is worse than the log ({NAMES[self.method]})."
        return f"The log doesn't tell which is better ({NAMES[self.method]})."


def _show(number: float, sign: str = "") -> str:
    return "–" if math.isnan(number) else f"{number:{sign}.4g}"


def _show_ends(ends: Ends, sign: str = "") -> str:
    low, high = ends
    if math.isnan(low):
        return "none"
    return f"{_show(low, sign)} {'or more' if math.isnan(high) else f'to {_show(high, sign)}'}"
