"""The settings of confidence intervals."""

from __future__ import annotations

from rankscope.errors import PolicyError
from rankscope.names import check_choice, is_real
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

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


@record(frozen=True, slots=True)
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
            wanted = f"resamples from {FEWEST_RESAMPLES} to {MOST_RESAMPLES}"
            raise _bad(wanted, self.resamples, "9999 is the default")
        if not (_is_whole(self.seed) and 0 <= self.seed < 2**64):
            raise _bad("a seed of 0 or more, below 2^64", self.seed, "0 is the default")


def stream_of(seed: int, measure: str) -> int:
    """Return the seed of the random numbers that a measure has to itself.

    It depends only on the seed and the measure's canonical name, so that other measures of the same
    call change nothing.
    """
    from hashlib import blake2b  # noqa: PLC0415 - only where something is resampled

    written = f"{seed} {measure}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(written, digest_size=8).digest(), "little")


def of_measure(interval: Interval, measure: str) -> Interval:
    """Return an interval with the random numbers of a measure."""
    return replace(interval, seed=stream_of(interval.seed, measure))


def read_interval(given: float | Interval | None) -> Interval | None:
    """Return the settings of an interval from a record, a level, or `None`."""
    return given if given is None or isinstance(given, Interval) else Interval(given)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and is_real(value)


def _bad(wanted: str, found: object, hint: str) -> PolicyError:
    return PolicyError(f"expected {wanted}, found {found!r}", hint=hint, code="bad_interval")
