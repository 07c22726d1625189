"""The settings of an evaluation: its policy, its intervals, and how input is read."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from rankscope._core import POLICY, SHARES
from rankscope._names import check_choice, is_real, quote, refuse_argument
from rankscope.errors import PolicyError, UsageError

Ties: TypeAlias = Literal["doc_id", "doc_id_asc", "input", "best", "worst", "average"]
Empty: TypeAlias = Literal["zero", "skip", "one", "nan", "error"]
Missing: TypeAlias = Literal["zero", "skip", "error"]
Unjudged: TypeAlias = Literal["nonrelevant", "remove"]
Unretrieved: TypeAlias = Literal["count", "ignore"]
Negative: TypeAlias = Literal["nonrelevant", "gain", "minmax", "error"]
Duplicates: TypeAlias = Literal["error", "first", "max"]
ScoreType: TypeAlias = Literal["float64", "float32"]


class Columns(TypedDict, total=False):
    """The names of columns by role, as keyword arguments."""

    query: str | None
    doc: str | None
    relevance: str | None
    score: str | None
    rank: str | None
    subtopic: str | None
    stratum: str | None


if TYPE_CHECKING:
    from rankscope.typing import Progress

    class ReadingOptions(Columns, total=False):
        """How inputs are read, as keyword arguments; `evaluate` documents each."""

        duplicates: Duplicates
        ignore_same: bool
        score_type: ScoreType | None
        encoding: Literal["utf-8", "latin-1"]
        threads: int | None
        memory: int | str | None
        spill_folder: str | os.PathLike[str] | None
        progress: Progress


METHODS = {
    "auto": "",
    "dense": "dense",
    "bounded": "bounded",
    "t": "Student's t",
    "percentile": "percentile bootstrap",
}
"""The methods of intervals, and what they are called in sentences."""
INSTEAD = dict.fromkeys(
    ("bca", "bootstrap"),
    "means have bounded and dense intervals; those of medians and quantiles are 'percentile'",
)
"""What to use in place of methods that others have."""
FEWEST_RESAMPLES = 100
MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """The settings of a confidence interval around a mean or another aggregate.

    Args:
        level: The confidence level, between 0 and 1.
        method: Which promise the interval keeps. It is never chosen by looking at the values.

            `"bounded"` holds for every distribution of values with known limits and for any number
            of queries: it allows for a kind of query that the sample doesn't show (Gaffke, *Three
            test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
            variable*, 2005). With 0 and 1 as the only values, it is the interval of Clopper and
            Pearson.

            `"dense"` is as narrow as Student's t: the values that a permutation test of sign flips
            doesn't reject, or those that the t test doesn't reject if that is the test of a
            comparison. It assumes that the values are about symmetric, or many, and that no rare
            value far from the others is missing from the sample.

            `"auto"` is `"bounded"` for a mean of values with limits, such as nDCG, and for budgets
            of gates; and `"dense"` for differences of runs, beside which comparisons show the
            bounded interval, and for values without limits, such as DCG. With fewer than six
            queries, a permutation test excludes nothing: bounded intervals stand in.

            `"t"` is Student's t interval, for means only. With clusters or weights, it has the
            error CR2 and the degrees of freedom of Satterthwaite, and there is none below four.

            `"percentile"` is the percentile bootstrap over queries, with quantiles of Student's t
            (Hesterberg, *What teachers should know about the bootstrap*, 2015), for 20 or more
            queries. It is the only interval of medians, quantiles and other aggregates that are
            neither means nor sums, and means and sums don't have it.

            Ends lie within the measure's range. With clusters, what is said of queries holds for
            clusters.
        resamples: The number of bootstrap samples or sign flips, from 100 to 1,000,000. A
            comparison has as many flips as its test.
        seed: The random seed of the bootstrap and of sign flips, 0 or more. The same seed always
            gives the same interval. Each measure has random numbers of its own.

    Raises:
        PolicyError: A value is not one of these.

    Examples:
        >>> Interval(0.9, method="t")
        Interval(level=0.9, method='t', resamples=9999, seed=0)
    """

    level: float = 0.95
    method: Literal["auto", "dense", "bounded", "t", "percentile"] = "auto"
    resamples: int = 9999
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS, hint=INSTEAD.get(self.method, ""))
        if not (is_real(self.level) and 0 < self.level < 1):
            raise _bad("level between 0 and 1", self.level, "write 0.95 for 95 percent")
        if not (_is_whole(self.resamples) and FEWEST_RESAMPLES <= self.resamples <= MOST_RESAMPLES):
            limits = f"resamples from {FEWEST_RESAMPLES} to {MOST_RESAMPLES}"
            raise _bad(limits, self.resamples, "9999 is the default")
        if not (_is_whole(self.seed) and 0 <= self.seed < 2**64):
            raise _bad("a seed of 0 or more, below 2^64", self.seed, "0 is the default")


def stream_of(seed: int, measure: str) -> int:
    """Return the seed of the random numbers that a measure has to itself.

    It depends only on the seed and the measure's canonical name, so that other measures of the same
    call change nothing.
    """
    from hashlib import blake2b

    text = f"{seed} {measure}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def of_measure(interval: Interval, measure: str) -> Interval:
    """Return an interval with the random numbers of a measure."""
    return replace(interval, seed=stream_of(interval.seed, measure))


def read_interval(interval: float | Interval | None) -> Interval | None:
    """Return the settings of an interval from a record, a level, or `None`."""
    return interval if interval is None or isinstance(interval, Interval) else Interval(interval)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and is_real(value)


def _bad(expected: str, value: object, hint: str) -> PolicyError:
    return PolicyError(f"expected {expected}, found {value!r}", hint=hint, code="bad_interval")


CHOICES = {
    field: tuple(word for word in words if word not in SHARES) for field, words in POLICY.items()
}
"""The words of each field, the default first, as the core lists them. Those that need a share of
the queries, such as `quantile(0.1)`, are left out."""

DEFAULT_TIES: Ties = "doc_id"
"""The ties of a run under a policy that has none."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The choices that change values, where tools differ. Every result prints its policy.

    Args:
        ties: The order of documents with equal scores: `"doc_id"` (larger ID first, by bytes, as in
            trec_eval), `"doc_id_asc"` (smaller ID first), `"input"` (the order given), `"best"` or
            `"worst"` (higher or lower grade first), or `"average"` (the expected value over all
            orders, computed exactly: McSherry and Najork, *Computing information retrieval
            performance measures efficiently in the presence of tied scores*, 2008). By default,
            the ties of the rankings or of the table that is evaluated, and `"doc_id"` for a run.
        empty: The value of a query for which a measure is undefined, usually because it has no
            relevant documents: `"zero"`, `"one"`, `"nan"`, `"skip"` (the mean leaves it out), or
            `"error"`.
        missing: A judged query that is not in the run: `"zero"` (an empty list), `"skip"` or
            `"error"`.
        unjudged: A retrieved document without a judgment: `"nonrelevant"`, `"remove"` (from the
            list: Sakai, *Alternatives to bpref*, 2007), or a number, which is its gain.
        unretrieved: A judged document that is not in the list: `"count"` (it is one of the relevant
            documents, and part of the ideal list), or `"ignore"` (as libraries do that only see
            lists of labels).
        negative: A negative grade: `"nonrelevant"` (no gain, as in trec_eval), `"gain"` (the result
            of the gain function), `"minmax"` (like `"gain"`, and nDCG is scaled between the worst
            and the best order of the judged documents: Gienapp et al., *The impact of negative
            relevance judgments on NDCG*, 2020), or `"error"`.
        missing_gain: The gain at each rank up to the cutoff where a shorter list has no document
            (default: 0).
        aggregate: How the values of queries become one: `"mean"`, `"ratio_of_sums"` (of
            numerators and denominators, such as DCG and IDCG), `"geometric"`, `"harmonic"`,
            `"median"`, `"quantile(0.1)"`, or `"tail_mean(0.1)"` (the mean of the lowest tenth).
            Counts are always summed.

    Raises:
        PolicyError: A value is not one of these.

    Examples:
        >>> Policy(empty="skip").empty
        'skip'
        >>> print(Policy.parse("ties=average,missing=skip"))
        ties=average,empty=zero,missing=skip,unjudged=nonrelevant,negative=nonrelevant
        >>> print(Policy(aggregate="tail_mean(0.1)", missing_gain=-1))
        empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant,missing_gain=-1,\
aggregate=tail_mean(0.1)
    """

    ties: Ties | None = None
    empty: Empty = "zero"
    missing: Missing = "zero"
    unjudged: Unjudged | float = "nonrelevant"
    unretrieved: Unretrieved = "count"
    negative: Negative = "nonrelevant"
    missing_gain: float | None = None
    aggregate: str = "mean"

    def __post_init__(self) -> None:
        for name in ("empty", "missing", "unretrieved", "negative"):
            check_choice(name, getattr(self, name), CHOICES[name])
        if isinstance(self.ties, str) and "=" in self.ties:
            raise PolicyError(
                f"expected ties, found the text {quote(self.ties)}",
                hint=f"write Policy.parse({quote(self.ties)})",
                code="bad_policy",
            )
        if self.ties is not None:
            check_choice("ties", self.ties, CHOICES["ties"])
        if not _is_finite(self.unjudged):
            check_choice("unjudged", self.unjudged, CHOICES["unjudged"], "or a number")
        if self.missing_gain is not None and not _is_finite(self.missing_gain):
            raise PolicyError(
                f"expected missing_gain to be a finite number, found {quote(self.missing_gain)}",
                hint="leave it out for a gain of 0",
                code="bad_policy",
            )
        split_aggregate(self.aggregate)

    def __str__(self) -> str:
        return ",".join(
            f"{name}={value}"
            for name, value in self.to_dict().items()
            if name not in UNUSUAL or value != UNUSUAL[name]
        )

    def to_dict(self) -> dict[str, str | float | None]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def resolve(self, ties: Ties | None = None) -> Policy:
        """Return the policy with these ties, or else those of a run, unless it has its own."""
        return self if self.ties is not None else replace(self, ties=ties or DEFAULT_TIES)

    @classmethod
    def parse(cls, text: str, default: Policy | None = None) -> Policy:
        """Read `field=value,field=value`. Fields that are not named are as in `default`.

        Raises:
            PolicyError: A field or a value is unknown, or a field is named twice.
        """
        settings: dict[str, str | float] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise PolicyError(
                    f"expected field=value, found {quote(part)}",
                    hint="write ties=input,empty=skip",
                    code="bad_policy",
                )
            check_choice("the field", name, FIELDS)
            if name in settings:
                raise PolicyError(
                    f"expected {name} once, found it twice", hint="keep one", code="bad_policy"
                )
            settings[name] = _read(value) if name in {"unjudged", "missing_gain"} else value
        return replace(default or cls(), **settings)  # type: ignore[arg-type]  # checked when made


FIELDS = tuple(field.name for field in fields(Policy))
"""The fields, in the order in which they are printed."""
UNUSUAL = {"ties": None, "unretrieved": "count", "missing_gain": None, "aggregate": "mean"}
"""Fields that are only printed if they are not the default."""


def ties_of(policy: Policy) -> Ties:
    """Return the ties of a policy, or those of a run if it has none."""
    return policy.ties or DEFAULT_TIES


def split_aggregate(text: object) -> tuple[str, float | None]:
    """Split `quantile(0.1)` into its name and its share, which other aggregates don't have."""
    name, _, rest = text.partition("(") if isinstance(text, str) else ("", "", "")
    if name in SHARES:
        share = _read(rest.removesuffix(")"))
        if rest.endswith(")") and isinstance(share, float) and 0 < share <= 1:
            return name, share
        raise PolicyError(
            f"expected {name} with a share above 0 and up to 1, found {quote(text)}",
            hint=f"write {name}(0.1)",
            code="bad_policy",
        )
    with_share = ", ".join(f"{name}(0.1)" for name in SHARES)
    check_choice("aggregate", text, CHOICES["aggregate"], with_share)
    return name, None


def _is_finite(value: object) -> bool:
    if not is_real(value):
        return False
    try:
        return math.isfinite(value)  # type: ignore[arg-type]  # a number
    except OverflowError:  # an integer that is larger than every float
        return False


def _read(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


ENCODINGS = ("utf-8", "latin-1")
ROLES = ("query", "doc", "relevance", "score", "rank", "subtopic", "stratum")
"""What the columns of judgments and runs may be."""
LIMITS = ("memory", "spill_folder")
OPTIONS = (
    *ROLES,
    "duplicates",
    "ignore_same",
    "score_type",
    "encoding",
    "threads",
    *LIMITS,
    "progress",
)
"""The keys of `ReadingOptions`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Reading:
    """How judgments and runs are read, checked and with the number of threads.

    `memory` and `spill_folder` are as the caller has them, for `Room`.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    duplicates: Duplicates = "error"
    ignore_same: bool = False
    score_type: ScoreType | None = None
    encoding: str = "utf-8"
    threads: int = None  # type: ignore[assignment]  # counted when made
    memory: object = None
    spill_folder: object = None
    progress: Progress = None

    def __post_init__(self) -> None:
        if self.score_type is not None:
            check_choice("score_type", self.score_type, CHOICES["score_type"])
        check_choice("duplicates", self.duplicates, CHOICES["duplicates"])
        check_choice("encoding", self.encoding, ENCODINGS)
        if not isinstance(self.ignore_same, bool):
            raise UsageError(
                f"expected ignore_same as True or False, found {quote(self.ignore_same)}",
                hint="it is for queries that are documents themselves",
                code="bad_parameter",
            )
        for role, name in self.columns.items():
            check_choice("the role of a column", role, ROLES)
            if not isinstance(name, str):
                raise UsageError(
                    f"expected {role} as the name of a column, found {type(name).__name__}",
                    hint=f"write {role}='…'",
                    code="bad_parameter",
                )
        self.threads = count_threads(self.threads)

    @classmethod
    def take(
        cls, options: Mapping[str, Any], *, holds_all: str = "the inputs"
    ) -> tuple[Reading, dict[str, Any]]:
        """Return how inputs are read, and the options about something else.

        Memory has no limit for inputs of which all rows are held; `holds_all` says which they are.
        """
        own = {name: options[name] for name in OPTIONS if name in options and name not in ROLES}
        columns = {role: options[role] for role in ROLES if options.get(role) is not None}
        reading = cls(columns=columns, **own)
        if holds_all:
            reading.refuse_limits(f"{holds_all}, of which all rows are held in memory")
        return reading, {name: value for name, value in options.items() if name not in OPTIONS}

    @classmethod
    def of(
        cls,
        function: str,
        options: Mapping[str, Any],
        *,
        names: Sequence[str] = OPTIONS,
        holds_all: str = "the inputs",
    ) -> Reading:
        """Return how the inputs of a function are read that has no other options."""
        reading, _ = cls.take(options, holds_all=holds_all)
        if unknown := options.keys() - set(names):
            raise refuse_argument(function, min(unknown), names)
        return reading

    def refuse_limits(self, what: str) -> None:
        """Refuse a memory limit that would have no effect."""
        limit = next((name for name in LIMITS if getattr(self, name) is not None), None)
        if limit is not None:
            raise UsageError(
                f"{limit} has no effect on {what}",
                hint=f"remove {limit}, or pass a file with grades and scores or ranks to evaluate",
                code="bad_memory",
            )

    @property
    def scores_as(self) -> ScoreType:
        """How scores are compared where no convention says it."""
        return self.score_type or "float64"


def count_threads(threads: object) -> int:
    """Return the number of threads to use (default: all cores)."""
    if threads is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not every system says which processors a process may use
            return os.cpu_count() or 1
    is_number = hasattr(threads, "__index__") and not isinstance(threads, bool)
    count = operator.index(threads) if is_number else 0  # type: ignore[arg-type]  # see above
    if count < 1:
        raise UsageError(
            f"expected threads to be 1 or more, found {threads!r}",
            hint="omit it to use all cores",
            code="bad_threads",
        )
    return min(count, 256)
