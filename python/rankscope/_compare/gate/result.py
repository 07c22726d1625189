"""The result of a gate: the checks of its budgets, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rankscope._compare.gate.budget import (
    BROKEN,
    HOLDS,
    INCONCLUSIVE,
    UNCHANGED,
    Budget,
    OnInconclusive,
    Verdict,
)
from rankscope._compare.gate.summary import describe_check, lay_out, write_junit, write_markdown
from rankscope._names import as_dict
from rankscope._settings import Policy
from rankscope._show import Documented
from rankscope._show.diagnostics import Diagnostic, count_codes
from rankscope._show.text import write

INFINITE = (math.inf, -math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A budget, checked on all queries or on one slice.

    Args:
        budget: The budget.
        measure: The canonical name of the measure.
        by: The attribute of the slice; empty for all queries.
        slice: The value of the attribute, or `None` for all queries.
        n: The number of queries for which both runs have a value; of a tolerance, the number of
            all queries.
        clusters: The number of clusters, or `None` without clusters.
        baseline_mean: The mean of the baseline; of a tolerance, its value.
        candidate_mean: The mean of the candidate; of a tolerance, its value.
        value: What is limited: the difference of the means or values (candidate − baseline), the
            quantile of the losses, or the mean of the candidate.
        lower: The lower end of its confidence interval; NaN if there is none.
        upper: The upper end.
        level: The level of the interval, corrected for the number of slices; NaN of a tolerance.
        corrected_for: The number of slices that the level is corrected for; 1 without slices.
        interval_method: How the interval was computed; empty if there is none.
        threshold: The limit on the scale of `value`: −`max_drop`, `max_loss`, `minimum`, or
            −`tolerance`; +`tolerance` where lower values are better. The value of `max-loss`, and
            such a tolerance, may not be above it, and the others may not be below it.
        verdict: `"holds"`, `"broken"`, `"inconclusive"`; or `"unchanged"` if every query has the
            same documents in the same order under both runs, and there are too few to tell more.
        passed: Whether the check lets the candidate pass.
        queries_needed: If it is inconclusive, about how many queries show with a probability of
            80 % that a candidate holds the budget that is as good as the baseline (of `max-loss`:
            of which half as many queries lose more than the limit as may); `None` if no number
            does.
        queries_needed_lower: What `queries_needed` is if all queries vary as little as the interval
            of their variance allows; `None` if that isn't known, and of `max-loss`.
        queries_needed_upper: The same if they vary as much as it allows.
        note: Why there is no interval, or why its ends are equal; else empty.
    """

    budget: Budget
    measure: str
    by: str = ""
    slice: str | None = None
    n: int
    clusters: int | None = None
    baseline_mean: float
    candidate_mean: float
    value: float
    lower: float = math.nan
    upper: float = math.nan
    level: float = math.nan
    corrected_for: int = 1
    interval_method: str = ""
    threshold: float
    verdict: Verdict
    passed: bool
    queries_needed: int | None = None
    queries_needed_lower: int | None = None
    queries_needed_upper: int | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """The budget and the slice in a few words."""
        where = "" if self.slice is None else f" ({self.by} = {self.slice})"
        return self.budget.describe(self.measure) + where

    def to_dict(self) -> dict[str, object]:
        """Return the fields, the parts of the budget, and the message."""
        budget, fields = self.budget, as_dict(self)
        del fields["budget"]
        return {
            "measure": fields.pop("measure"),
            "kind": budget.kind,
            "limit": budget.limit,
            "relative": budget.is_relative,
            "quantile": budget.quantile if budget.kind == "max-loss" else None,
            "by": fields.pop("by") or None,
            **{name: None if value in INFINITE else value for name, value in fields.items()},
            "message": self.message,
        }

    @property
    def message(self) -> str:
        """A sentence that explains the verdict with its numbers."""
        return describe_check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult(Documented):
    """The verdict of a gate, with the check of each budget.

    It prints as a table. `markdown()` fits a pull request, and `junit()` is XML that CI servers
    read.

    Args:
        baseline: The name of the baseline.
        candidate: The name of the candidate.
        checks: The checks, in the order of the budgets, and of slices by size.
        on_inconclusive: Whether a gate with an inconclusive budget fails or passes.
        cluster: The attribute that queries depend within; empty without clusters.
        is_weighted: Whether queries have weights.
        policy: The policy of the evaluation.
        notes: Notes about input that is valid but looks wrong.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {f"q{n}": {"a": 2, "b": 1} for n in range(40)}
        >>> old = {query: {"a": 2.0, "b": 1.0} for query in qrels}
        >>> new = {query: {"b": 2.0, "a": 1.0} for query in qrels}
        >>> result = rs.gate(qrels, old, new, {"nDCG@10": 0.01})
        >>> result.passed, result.verdict
        (False, 'broken')
    """

    baseline: str
    candidate: str
    checks: tuple[Check, ...]
    on_inconclusive: OnInconclusive = "fail"
    cluster: str = ""
    is_weighted: bool = False
    policy: Policy | None = None
    notes: tuple[Diagnostic, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the candidate passes."""
        return all(check.passed for check in self.checks)

    @property
    def verdict(self) -> Verdict:
        """`"broken"` if any budget is, else `"inconclusive"` if any is, else `"holds"`.

        It is `"unchanged"` if all are.
        """
        return next(filter(self.count, (BROKEN, INCONCLUSIVE, HOLDS, UNCHANGED)))

    def count(self, verdict: Verdict) -> int:
        """Return the number of checks with a verdict."""
        return sum(check.verdict == verdict for check in self.checks)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists, as `rankscope gate --json` prints it."""
        return {
            "verdict": self.verdict,
            "passed": self.passed,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "checks": [check.to_dict() for check in self.checks],
            "on_inconclusive": self.on_inconclusive,
            "cluster": self.cluster or None,
            "weighted": self.is_weighted,
            "policy": self.policy and self.policy.to_dict(),
            "diagnostics": count_codes(self.notes),
        }

    def markdown(self) -> str:
        """Return a summary in Markdown for a pull request: the verdict first, then a table."""
        return write_markdown(self)

    def junit(self) -> str:
        """Return JUnit XML with one test case for each check.

        A broken budget is a failure. An inconclusive one is an error, or skipped if the gate passes
        it.
        """
        return write_junit(self)

    @property
    def small_print(self) -> tuple[str, ...]:
        """Why checks don't hold, how many queries would decide, and how intervals were made."""
        return lay_out(self).small_print

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __str__(self) -> str:
        return write(lay_out(self).shorten())

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown()
