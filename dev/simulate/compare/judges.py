"""How often intervals with judgments of a model cover the true mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from rankscope import DCG, nDCG
from rankscope._settings import Interval
from rankscope.judges.powered import Items, estimate_powered, split_strata

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

WORLDS = {
    "even": (0.15, 0.1, 2, 2),
    "zeros": (0.5, 0.02, 1, 3),
    "ones": (0.03, 0.45, 4, 1.5),
    "sparse": (0.96, 0.01, 1, 3),
}
"""The shares of values at 0 and 1, and the parameters of the beta distribution of the others."""
CHANGED = {"4 % changed": 0.04, "10 % changed": 0.1}
"""The shares of queries in which two runs differ; there, one is worse by a third of the range."""
MODELS = ("good", "biased", "weak", "erratic")
DISCOUNTS = 1 / np.log2(np.arange(2, 12))
MANY = 2_000_000
"""The number of values from which the true mean is computed."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals covered the true mean, and how wide they were.

    Args:
        covered: The share of intervals that cover.
        width: Their mean width.
        covered_alone: The share without the model.
        width_alone: The mean width of these.
        samples: The number of samples.
    """

    covered: float
    width: float
    covered_alone: float
    width_alone: float
    samples: int

    @property
    def error(self) -> float:
        """The Monte Carlo error of a coverage of 95 %."""
        return float((0.95 * 0.05 / self.samples) ** 0.5)


def draw_values(world: str, count: int, random: Generator) -> Values:
    """Return values of queries between 0 and 1, with mass at both ends."""
    zeros, ones, a, b = WORLDS[world]
    place = random.random(count)
    values = random.beta(a, b, count)
    return np.where(place < zeros, 0.0, np.where(place > 1 - ones, 1.0, values))


def judge_values(model: str, values: Values, random: Generator) -> Values:
    """Return the values by a model.

    Args:
        model: `"good"` errs a little; `"biased"` is far too generous; `"weak"` hardly knows
            anything; `"erratic"` is exact, but for every tenth query knows nothing.
        values: The values by people.
        random: The source of the errors.
    """
    noise = random.normal(size=len(values))
    if model == "good":
        return np.clip(values + 0.08 * noise, 0, 1)
    if model == "biased":
        return np.clip(0.35 + 0.6 * values + 0.12 * noise, 0, 1)
    if model == "weak":
        return np.clip(0.5 + 0.05 * values + 0.3 * noise, 0, 1)
    if model == "erratic":
        return np.where(random.random(len(values)) < 0.1, random.random(len(values)), values)
    raise ValueError(f"expected one of {', '.join(MODELS)}, found {model}")


def _find_mean(world: str) -> float:
    if world in CHANGED:
        return -CHANGED[world] / 3
    zeros, ones, a, b = WORLDS[world]
    return ones + (1 - zeros - ones) * a / (a + b)


def draw_queries(
    world: str, model: str, n: int, total: int, random: Generator, *, drawn: str = "all"
) -> Items:
    """Return queries of which people judged some.

    Args:
        world: One of `WORLDS` or `CHANGED`.
        model: One of `MODELS`.
        n: The number of human queries.
        total: The number of all queries.
        random: The source of random numbers.
        drawn: `"all"` draws the human queries from all, and `"changed"` from those that changed.
    """
    sizes, low = np.ones(total), 0.0
    if world in CHANGED:
        low = -1.0
        sizes = (random.random(total) < CHANGED[world]).astype(np.float64)
        # The mean of these from 0 to 1 is a third.
        human = random.beta(1.5, 3, total)
        by_model = sizes * (2 * judge_values(model, human, random) - 1)
        human = sizes * (2 * human - 1)
    else:
        human = draw_values(world, total, random)
        by_model = judge_values(model, human, random)
    strata = split_strata(by_model, sizes)
    is_judged = np.zeros(total, dtype=bool)
    if drawn == "all":
        is_judged[:n] = True
    else:
        seed = int(random.integers(2**32))
        is_judged[_draw_items(strata, sizes, min(n, int(sizes.sum())), seed)] = True
    return Items(
        measure=nDCG,
        names=[("", None)] * total,
        sizes=sizes,
        human=np.where(is_judged, human, np.nan),
        model=by_model,
        model_mean=float(by_model.mean()),
        strata=strata,
        count=total,
        limits=(low, 1.0),
    )


def _draw_items(
    strata: NDArray[np.int64], sizes: NDArray[np.float64], count: int, seed: int
) -> NDArray[np.int64]:
    """Draw items with a size, each with the same probability, so many of each stratum as it has.

    This is systematic sampling of items in a random order within each stratum (Madow and Madow, *On
    the theory of systematic sampling*, 1944).
    """
    random = np.random.default_rng(seed)
    mixed = random.permutation(np.flatnonzero(sizes > 0))
    mixed = mixed[np.argsort(strata[mixed], kind="stable")]
    steps = (np.arange(count) + random.random()) * (len(mixed) / count)
    return mixed[np.minimum(steps.astype(np.int64), len(mixed) - 1)]


def cover_queries(
    world: str,
    model: str,
    n: int,
    *,
    total: int = 1000,
    drawn: str = "all",
    method: Literal["bounded", "dense"] = "bounded",
    samples: int = 2000,
    seed: int = 0,
) -> Coverage:
    """Return the coverage of estimates from `n` human queries and a model's judgments of all.

    Args:
        world: One of `WORLDS` or `CHANGED`.
        model: One of `MODELS`.
        n: The number of human queries.
        total: The number of all queries.
        drawn: As in `draw_queries`.
        method: The method of the interval.
        samples: The number of samples.
        seed: The random seed. Each sample has random numbers of its own.
    """
    true = _find_mean(world)
    found = np.empty((samples, 4))
    for sample in range(samples):
        random = np.random.default_rng([seed, n, sample])
        items = draw_queries(world, model, n, total, random, drawn=drawn)
        made = estimate_powered(items, interval=Interval(method=method))
        found[sample] = made.lower, made.upper, made.human_lower, made.human_upper
    return _summarize(found, true)


def cover_documents(
    model: str,
    judged: int,
    *,
    queries: int = 400,
    method: Literal["bounded", "dense"] = "bounded",
    samples: int = 1000,
    seed: int = 0,
) -> Coverage:
    """Return the coverage of DCG@10 from human grades of single documents.

    Args:
        model: `"good"` raises every seventh grade; `"biased"` is too generous; `"weak"` knows
            nothing; `"sparse"` misses half of the relevant documents, which are rare.
        judged: The number of documents that people judged.
        queries: The number of queries.
        method: The method of the interval.
        samples: The number of samples.
        seed: The random seed.
    """
    human, _ = _draw_grades(model, MANY // 10, np.random.default_rng(0))
    true = float((human @ DISCOUNTS).mean())
    found = np.empty((samples, 4))
    for sample in range(samples):
        random = np.random.default_rng([seed, judged, sample])
        human, by_model = _draw_grades(model, queries, random)
        is_judged = np.zeros(human.size, dtype=bool)
        is_judged[random.choice(human.size, judged, replace=False)] = True
        items = Items(
            measure=DCG @ 10,
            names=[("", "")] * human.size,
            sizes=np.tile(DISCOUNTS, queries),
            model=by_model.ravel(),
            model_mean=float((by_model @ DISCOUNTS).mean()),
            human=np.where(is_judged, human.ravel(), np.nan),
            strata=split_strata(by_model.ravel(), np.ones(human.size)),
            queries=np.repeat(np.arange(queries), len(DISCOUNTS)),
            count=queries,
            limits=(0.0, 3.0),
            reach=float(DISCOUNTS.sum()),
        )
        made = estimate_powered(items, interval=Interval(method=method))
        found[sample] = made.lower, made.upper, made.human_lower, made.human_upper
    return _summarize(found, true)


def _draw_grades(model: str, queries: int, random: Generator) -> tuple[Values, Values]:
    """Return grades from 0 to 3 by people and by a model, [queries, ranks]."""
    shape = (queries, len(DISCOUNTS))
    chance = random.random((queries, 1)) * np.linspace(0.9, 0.3, len(DISCOUNTS))
    if model == "sparse":
        chance = chance / 40
    is_relevant = random.random(shape) < chance
    human: Values = np.where(is_relevant, random.integers(1, 4, shape), 0).astype(np.float64)
    if model == "good":
        return human, np.minimum(human + (random.random(shape) < 0.15), 3)
    if model == "sparse":
        return human, human * (random.random(shape) < 0.5)
    if model == "biased":
        noise = 0.6 * random.normal(size=shape)
        return human, np.clip(np.round(0.8 * human + 0.9 + noise), 0, 3)
    return human, random.integers(0, 4, shape).astype(np.float64)


def _summarize(ends: Values, true: float) -> Coverage:
    lower, upper, lower_alone, upper_alone = ends.T
    return Coverage(
        covered=float(((lower <= true) & (true <= upper)).mean()),
        width=float((upper - lower).mean()),
        covered_alone=float(((lower_alone <= true) & (true <= upper_alone)).mean()),
        width_alone=float((upper_alone - lower_alone).mean()),
        samples=len(ends),
    )
