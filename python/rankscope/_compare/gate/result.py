"""A gate: budgets for the quality of a candidate, their checks, and the verdict."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.names import is_real, quote
from rankscope.output.diagnostics import count_codes
from rankscope.output.documents import Documented
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal, TypeAlias

    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.policy import Policy

    Kind: TypeAlias = Literal["max-drop", "max-loss", "min", "tolerance"]
    Verdict: TypeAlias = Literal["holds", "unchanged", "broken", "inconclusive"]
    OnInconclusive: TypeAlias = Literal["fail", "pass"]

HOLDS: Verdict = "holds"
BROKEN: Verdict = "broken"
INCONCLUSIVE: Verdict = "inconclusive"
UNCHANGED: Verdict = "unchanged"
ON_INCONCLUSIVE = ("fail", "pass")
KINDS: tuple[Kind, ...] = ("max-drop", "max-loss", "min", "tolerance")
FIELDS = dict(zip(KINDS, ("max_drop", "max_loss", "minimum", "tolerance"), strict=True))
DIFFERENCES = ("max-drop", "tolerance")
"""The kinds that limit a difference, which can be a share of what the baseline has."""


def decide(lower: float, upper: float, least: float) -> Verdict:
    """Decide whether a value is at least `least`, given its confidence interval.

    The budget holds if the whole interval is at or above `least`, is broken if the whole interval
    is below it, and is inconclusive otherwise, or if there is no interval (NaN).

    Examples:
        >>> decide(-0.005, 0.01, -0.005), decide(-0.02, -0.006, -0.005), decide(-0.02, 0.01, -0.005)
        ('holds', 'broken', 'inconclusive')
    """
    if lower >= least:
        return HOLDS
    return BROKEN if upper < least else INCONCLUSIVE


@record(frozen=True, slots=True)
class Budget:
    """What a candidate may lose. Give exactly one limit.

    Args:
        measure: The measure, or its name.
        max_drop: How far the mean of the candidate may be below that of the baseline: a number, or
            text such as `"2%"` for a share of the baseline's mean.
        max_loss: The most that the loss of a query (its value under the baseline minus its value
            under the candidate) may be at the quantile `quantile`.
        minimum: The lowest mean that the candidate may have, whatever the baseline has.
        tolerance: How much worse the value of the candidate may be than that of the baseline, for a
            measure of all lists together, such as Coverage: a number, or text such as `"5%"` for a
            share of the baseline's value. Worse is higher where lower values are better, as of
            Gini. The two values are compared as they are, without an interval: no query has a value
            to resample.
        quantile: The quantile of `max_loss`, between 0 and 1. With 0.95, 5 % of the queries may
            lose more than `max_loss`.
        by: Check each slice of this attribute instead of all queries; several attributes are
            combined. The confidence is corrected for the number of slices (Bonferroni).
        confidence: The confidence level of the two-sided interval (default: that of the gate).
        on_inconclusive: `"fail"` or `"pass"` (default: that of the gate).

    Raises:
        UsageError: A value is out of range, or there isn't exactly one limit.

    Examples:
        >>> print(Budget("nDCG@10", max_drop="2%"))
        nDCG@10: max drop 2%
        >>> print(Budget("AP", max_loss=0.3, by="country"))
        AP: max p95 loss 0.3, by country
        >>> print(Budget("Coverage@10", tolerance=0.02))
        Coverage@10: tolerance 0.02
    """

    measure: str | Measure
    max_drop: float | str | None = None
    max_loss: float | None = None
    minimum: float | None = None
    tolerance: float | str | None = None
    quantile: float = 0.95
    by: str | Sequence[str] | None = None
    confidence: float | None = None
    on_inconclusive: OnInconclusive | None = None

    def __post_init__(self) -> None:
        if sum(getattr(self, field) is not None for field in FIELDS.values()) != 1:
            raise bad_budget(
                f"the budget of {self.measure} needs exactly one limit",
                "set a largest drop, a largest loss, a minimum, or a tolerance",
            )
        if self.tolerance is not None and (self.by is not None or self.confidence is not None):
            raise bad_budget(
                f"the tolerance of {self.measure} has no slices and no confidence",
                "remove by and confidence: two values of all lists are compared, without intervals",
            )
        if not math.isfinite(self.limit) or (self.limit < 0 and self.minimum is None):
            field = FIELDS[self.kind]
            wanted = "a number of 0 or more" if self.minimum is None else "a finite number"
            raise bad_budget(
                f"expected {field} to be {wanted}, found {quote(getattr(self, field))}",
                "write 0.005, or '2%'" if self.kind in DIFFERENCES else "write 0.3",
            )
        check_share("quantile", self.quantile)
        check_choices(self.confidence, self.on_inconclusive)

    @property
    def kind(self) -> Kind:
        """Which limit it sets: `"max-drop"`, `"max-loss"`, `"min"` or `"tolerance"`."""
        return next(kind for kind, field in FIELDS.items() if getattr(self, field) is not None)

    @property
    def limit(self) -> float:
        """The limit as a number; a share from 0 to 1 if `is_relative`."""
        limit = getattr(self, FIELDS[self.kind])
        if self.is_relative:
            return to_number(limit.rstrip()[:-1]) / 100
        return float(limit) if is_real(limit) else math.nan

    @property
    def is_relative(self) -> bool:
        """Whether the limit is a share of the baseline's mean or value."""
        limit = getattr(self, FIELDS[self.kind])
        is_text = self.kind in DIFFERENCES and isinstance(limit, str)
        return is_text and limit.rstrip().endswith("%")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the slices; empty for all queries."""
        return () if self.by is None else (self.by,) if isinstance(self.by, str) else (*self.by,)

    def describe(self, measure: str) -> str:
        """Return the measure and the limit in a few words."""
        limit = f"{100 * self.limit:g}%" if self.is_relative else f"{self.limit:g}"
        if self.kind == "max-loss":
            return f"{measure}: max p{100 * self.quantile:g} loss {limit}"
        return f"{measure}: {self.kind.replace('-', ' ')} {limit}"

    def __str__(self) -> str:
        by = f", by {', '.join(self.attributes)}" if self.attributes else ""
        return self.describe(str(self.measure)) + by


@record(frozen=True, slots=True, kw_only=True)
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
        budget = self.budget
        parts: dict[str, object] = {
            "measure": self.measure,
            "kind": budget.kind,
            "limit": budget.limit,
            "relative": budget.is_relative,
            "quantile": budget.quantile if budget.kind == "max-loss" else None,
            "by": self.by or None,
        }
        fields = {name: _drop_infinity(getattr(self, name)) for name in CHECK_FIELDS}
        return parts | fields | {"message": self.message}

    @property
    def message(self) -> str:
        """A sentence that explains the verdict with its numbers."""
        from rankscope._compare.gate.summary import describe_check  # noqa: PLC0415 - loads late

        return describe_check(self)


CHECK_FIELDS: tuple[str, ...] = Check.__match_args__[3:]
"""The fields that `to_dict` returns as they are: all but the budget, the measure and `by`."""


@record(frozen=True, slots=True, kw_only=True)
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
        return all(each.passed for each in self.checks)

    @property
    def verdict(self) -> Verdict:
        """`"broken"` if any budget is, else `"inconclusive"` if any is, else `"holds"`.

        It is `"unchanged"` if all are.
        """
        return next(filter(self.count, (BROKEN, INCONCLUSIVE, HOLDS, UNCHANGED)))

    def count(self, verdict: Verdict) -> int:
        """Return the number of checks with a verdict."""
        return sum(each.verdict == verdict for each in self.checks)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists, as `rankscope gate --json` prints it."""
        return {
            "verdict": self.verdict,
            "passed": self.passed,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "checks": [each.to_dict() for each in self.checks],
            "on_inconclusive": self.on_inconclusive,
            "cluster": self.cluster or None,
            "weighted": self.is_weighted,
            "policy": None if self.policy is None else self.policy.to_dict(),
            "diagnostics": count_codes(self.notes),
        }

    def markdown(self) -> str:
        """Return a summary in Markdown for a pull request: the verdict first, then a table."""
        from rankscope._compare.gate.summary import write_markdown  # noqa: PLC0415 - only to print

        return write_markdown(self)

    def junit(self) -> str:
        """Return JUnit XML with one test case for each check.

        A broken budget is a failure. An inconclusive one is an error, or skipped if the gate passes
        it.
        """
        from rankscope._compare.gate.summary import write_junit  # noqa: PLC0415 - only to print

        return write_junit(self)

    @property
    def small_print(self) -> tuple[str, ...]:
        """Why checks don't hold, how many queries would decide, and how intervals were made."""
        from rankscope._compare.gate.summary import lay_out  # noqa: PLC0415 - only to print

        return lay_out(self).small_print

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __str__(self) -> str:
        from rankscope._compare.gate.summary import lay_out  # noqa: PLC0415 - only to print
        from rankscope.output.layout.text import write  # noqa: PLC0415 - as above

        return write(lay_out(self).shorten())

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown()


def read_budgets(budgets: object, by: str | Sequence[str] | None = None) -> tuple[Budget, ...]:
    """Return the budgets of a caller, also in each slice of an attribute.

    Examples:
        >>> [str(each) for each in read_budgets({"nDCG@10": 0.005, "AP": "2%"})]
        ['nDCG@10: max drop 0.005', 'AP: max drop 2%']
    """
    from collections.abc import Iterable, Mapping  # noqa: PLC0415 - only gates need them

    several: list[object] = []
    if isinstance(budgets, Budget):
        several = [budgets]
    elif isinstance(budgets, Mapping):
        several = [Budget(measure, max_drop=limit) for measure, limit in budgets.items()]
    elif isinstance(budgets, Iterable) and not isinstance(budgets, str):
        several = [*budgets]
    known = [each for each in several if isinstance(each, Budget)]
    if not known or len(known) < len(several):
        raise bad_budget(
            f"expected budgets, found {quote(budgets)}",
            "write {'nDCG@10': 0.005}, or a list of rs.Budget('nDCG@10', max_drop=0.005)",
        )
    checked: list[Budget] = []
    for budget in known:
        checked.append(budget)
        if by is not None and budget.by is None and budget.tolerance is None:
            checked.append(replace(budget, by=by))
    return tuple(checked)


def check_choices(confidence: float | None, on_inconclusive: str | None) -> None:
    """Refuse a confidence that isn't between 0 and 1, and an unknown outcome."""
    if confidence is not None:
        check_share("confidence", confidence)
    if on_inconclusive not in (None, *ON_INCONCLUSIVE):
        raise bad_budget(
            f"unknown value {quote(on_inconclusive)} of on_inconclusive", "write 'fail' or 'pass'"
        )


def check_share(name: str, share: object) -> None:
    """Refuse anything but a number between 0 and 1."""
    if not (is_real(share) and 0 < share < 1):  # type: ignore[operator]  # a number
        raise bad_budget(
            f"expected a {name} between 0 and 1, found {quote(share)}", "write 0.95 for 95 percent"
        )


def to_number(text: str) -> float:
    """Return a number; NaN for text that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _drop_infinity(value: object) -> object:
    return None if isinstance(value, float) and math.isinf(value) else value


def bad_budget(message: str, hint: str) -> UsageError:
    """Return the error for a budget that nothing can be checked by."""
    return UsageError(message, hint=hint, code="bad_budget")
