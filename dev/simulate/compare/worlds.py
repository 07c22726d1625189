"""Worlds of bounded, skewed values whose means are known, and the coverage of intervals in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from rankscope._settings import Interval
from rankscope._stats.power import estimate_mean
from scipy.stats import beta, gamma, norm  # type: ignore[import-untyped]  # it has no types
from scipy.stats import t as student

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from rankscope._show.diagnostics import Estimate

ROUNDING = 1e-12
"""The end of an interval and the mean can differ by so much where they are equal."""
GRID = (np.arange(200) + 0.5) / 200
"""The quantiles by which continuous distributions are known, so that their means are exact."""


@dataclass(frozen=True, slots=True)
class World:
    """The distribution of the value of a query.

    Args:
        name: What the values are like.
        values: The values that there are, ascending.
        chances: The probability of each.
        low: The lowest value that the measure could have.
        high: The highest value that the measure could have; infinite if there is none.
    """

    name: str
    values: NDArray[np.float64]
    chances: NDArray[np.float64]
    low: float = 0.0
    high: float = 1.0

    @property
    def mean(self) -> float:
        """The mean that intervals have to cover."""
        return float(self.values @ self.chances)

    @property
    def deviation(self) -> float:
        """The standard deviation of values."""
        return math.sqrt(float((self.values - self.mean) ** 2 @ self.chances))

    def moment(self, power: int) -> float:
        """Return a moment about the mean, in standard deviations: of 3, the skewness."""
        return float((self.values - self.mean) ** power @ self.chances) / self.deviation**power

    def is_dense(self, units: float) -> bool:
        """Whether so many units have what a dense interval assumes.

        Values are about symmetric, or many: more than 25 times their squared skewness, as a rule of
        Cochran says (*Sampling techniques*, 1977, section 2.15). And rare values make up little of
        the variance: there are more than 10 times as many as the excess kurtosis.
        """
        return units > max(25 * self.moment(3) ** 2, 10 * (self.moment(4) - 3))

    def reaches(self, mean: float) -> bool:
        """Whether the same values can have this mean."""
        return bool(self.values[0] < mean < self.values[-1])

    def draw(
        self, codes: NDArray[np.int64], alike: float, random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw a value for each query.

        Args:
            codes: The cluster of each query.
            alike: The correlation of the normal scores of queries in the same cluster: 0 if they
                are independent, 1 if they are equal.
            random: The source of randomness.
        """
        users = random.standard_normal(int(codes.max()) + 1)[codes]
        own = random.standard_normal(len(codes))
        shares = norm.cdf(math.sqrt(alike) * users + math.sqrt(1 - alike) * own)
        places = np.searchsorted(np.cumsum(self.chances), shares)
        found: NDArray[np.float64] = self.values[np.minimum(places, len(self.values) - 1)]
        return found


def _make(name: str, masses: Mapping[float, float], low: float = 0.0, high: float = 1.0) -> World:
    """Make a world from the probability of each value."""
    values = sorted(masses)
    chances = np.array([masses[value] for value in values])
    return World(name, np.array(values), chances / chances.sum(), low, high)


def _mix(
    name: str, masses: Mapping[float, float], shape: tuple[float, float], low: float = 0.0
) -> World:
    """Make a world of masses and, for the rest of the probability, a beta distribution."""
    rest = (1 - sum(masses.values())) / len(GRID)
    found = dict.fromkeys((low + (1 - low) * beta.ppf(GRID, *shape)).tolist(), rest)
    return _make(name, found | dict(masses), low)


RECIPROCAL_RANKS = {1 / rank: 0.3 * 0.6 ** (rank - 1) for rank in range(1, 11)}

SINGLES = (
    # nDCG@10 of a web search: some queries find nothing, some everything.
    _mix("gain", {0.0: 0.12, 1.0: 0.08}, (1.6, 1.4)),
    # Reciprocal ranks, with queries that find nothing.
    _make("reciprocal", RECIPROCAL_RANKS | {0.0: 0.25}),
    # P@1.
    _make("hit", {0.0: 0.6, 1.0: 0.4}),
    # Known items that are nearly always first.
    _make("known item", {1.0: 0.93, 0.5: 0.03, 0.25: 0.02, 0.0: 0.02}),
    # Hard queries: one in thirty finds something.
    _mix("rare", {0.0: 0.967}, (2.0, 1.0)),
    # A skewed measure without mass at its ends.
    _mix("skewed", {}, (0.6, 4.0)),
)
PAIRS = (
    # Differences of a measure that hardly changes, without mass anywhere.
    World("steady", 0.15 * norm.ppf(GRID), np.full(len(GRID), 1 / len(GRID)), low=-1.0),
    # Differences of nDCG@10: many queries don't change.
    _mix("changes", {0.0: 0.4}, (8.0, 7.0), low=-1.0),
    # Differences of P@1.
    _make("hit changes", {-1.0: 0.06, 0.0: 0.82, 1.0: 0.12}, low=-1.0),
    # A few queries gain much.
    _make("rare gains", {-0.05: 0.1, 0.0: 0.85, 0.6: 0.03, 1.0: 0.02}, low=-1.0),
    # Of 100 queries, six lose a lot, and the others hardly change.
    _make(
        "six in 100",
        dict.fromkeys(np.linspace(-1, -0.5, 50).tolist(), 0.06 / 50)
        | dict.fromkeys(np.linspace(-0.02, 0.02, 50).tolist(), 0.94 / 50),
        low=-1.0,
    ),
    # Of 100 queries, two lose everything.
    _make("two in 100", {-1.0: 0.02, 0.0: 0.98}, low=-1.0),
)
UNBOUNDED = (
    # DCG@10 is skewed, and has no limit.
    World("DCG", gamma.ppf(GRID, 2.0), np.full(len(GRID), 1 / len(GRID)), high=math.inf),
    # Counts, such as the number of relevant documents.
    _make("count", {float(n): 0.7**n for n in range(40)}, high=math.inf),
    # Differences with heavy tails: Student's t with three degrees of freedom.
    World(
        "heavy tails", student.ppf(GRID, 3), np.full(len(GRID), 1 / len(GRID)), -math.inf, math.inf
    ),
)


LAYOUTS = ("queries", "users", "unequal users", "one heavy user", "weights")
"""How queries are sampled: each by itself; five by a user; as many as a Pareto distribution says;
half of them by one user; each by itself, with a weight from 1 to 10."""
PER_USER = 5
ALIKE = 0.4
"""The correlation of the normal scores of queries of the same user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which queries belong together, and what they weigh.

    Args:
        codes: The user of each query.
        weights: The weight of each query, or `None`.
        is_clustered: Whether users have several queries.
    """

    codes: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    is_clustered: bool = True

    @property
    def effective(self) -> float:
        """How many equal units say as much as these (Kish)."""
        sizes = np.bincount(self.codes) if self.weights is None else self.weights
        return float(sizes.sum() ** 2 / (sizes**2).sum())


def draw_sample(layout: str, units: int, random: np.random.Generator) -> Sample:
    """Draw how many queries each of some users has, or what queries weigh.

    Args:
        layout: One of `LAYOUTS`.
        units: The number of users, or of queries that are sampled by themselves.
        random: The source of randomness.
    """
    sizes = np.ones(units, dtype=np.int64)
    if layout == "users":
        sizes *= PER_USER
    elif layout == "unequal users":
        sizes = np.minimum(np.ceil(random.pareto(1.2, units) + 1), 200).astype(np.int64)
    elif layout == "one heavy user":
        sizes[0] = max(units - 1, 1)
    codes = np.repeat(np.arange(units), sizes)
    weights = random.uniform(1, 10, units) if layout == "weights" else None
    return Sample(codes=codes, weights=weights, is_clustered=layout not in {"queries", "weights"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """How often intervals of one method cover the mean, and how wide they are.

    Args:
        given: The number of samples that have such an interval.
        covered: The share of these intervals that cover; NaN without any.
        width: Their mean width.
    """

    given: int
    covered: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often intervals cover the mean of a world.

    Args:
        world: The world.
        layout: How queries are sampled.
        units: The number of queries or users.
        trials: The number of samples.
        methods: By method, what its intervals do.
        refused: By method, how many samples have no interval.
        oracle: The width of a t interval that knows the standard error.
        effective: The mean effective number of units.
    """

    world: World
    layout: str
    units: int
    trials: int
    methods: dict[str, Promise]
    refused: dict[str, int]
    oracle: float
    effective: float

    @property
    def is_dense(self) -> bool:
        """Whether the world has what a dense interval assumes."""
        return self.world.is_dense(self.effective)


def measure_coverage(
    world: World,
    units: int,
    *,
    layout: str = "queries",
    trials: int = 1000,
    level: float = 0.95,
    flips: int = 999,
    methods: tuple[str, ...] = ("dense", "bounded", "t"),
    seed: int = 0,
) -> Coverage:
    """Return how often the intervals of a mean cover it, and how wide they are on average.

    Args:
        world: The world.
        units: The number of queries, or of users.
        layout: One of `LAYOUTS`.
        trials: The number of samples.
        level: The confidence level.
        flips: The number of sign flips of a dense interval, and of resamples of a bootstrap.
        methods: The methods of intervals.
        seed: The random seed. Each world has random numbers of its own.
    """
    random = np.random.default_rng((seed, crc32(f"{world.name}, {layout}".encode()), units))
    found: dict[str, list[Estimate]] = {method: [] for method in methods}
    means, effective = [], []
    for _ in range(trials):
        sample = draw_sample(layout, units, random)
        values = world.draw(sample.codes, ALIKE if sample.is_clustered else 0.0, random)
        means.append(float(np.average(values, weights=sample.weights)))
        effective.append(sample.effective)
        for method in methods:
            interval = Interval(level, method=method, resamples=flips, seed=seed)  # type: ignore[arg-type]  # one of them
            made = estimate_mean(
                values,
                interval=interval,
                low=world.low,
                high=world.high,
                weights=sample.weights,
                clusters=sample.codes if sample.is_clustered else None,
                threads=1,
            )
            found[method].append(made)
    # Bounded intervals stand in for dense ones of few units: what counts is what is shown.
    shown = {each.method for made in found.values() for each in made if each.method}
    return Coverage(
        world=world,
        layout=layout,
        units=units,
        trials=trials,
        methods={
            method: _summarize(
                [each.ends for each in found.get(method, []) if each.method == method],
                world.mean,
            )
            for method in sorted(shown)
        },
        refused={method: sum(not each.method for each in made) for method, made in found.items()},
        oracle=2
        * float(student.ppf((1 + level) / 2, max(np.mean(effective) - 1, 1)) * np.std(means)),
        effective=float(np.mean(effective)),
    )


def _summarize(ends: list[tuple[float, float]], mean: float) -> Promise:
    """Return the share of intervals that cover the mean, and their mean width."""
    if not ends:
        return Promise(given=0, covered=math.nan, width=math.nan)
    lower, upper = np.array(ends).T
    covers = (lower <= mean + ROUNDING) & (mean - ROUNDING <= upper)
    return Promise(
        given=len(ends), covered=float(covers.mean()), width=float((upper - lower).mean())
    )
