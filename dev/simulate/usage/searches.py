"""Simulated searches: lists of documents whose relevance and examination are known.

A document is clicked if a person looks at its rank, and finds it relevant. Position bias, the order
and what people search for change, one at a time or together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.evaluate.stored_windows import RANKS
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.check import check_data
from rankscope.monitor.rules.data.counts import HOURS, TOTAL, LabelDay, Segment
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.data.shown import Rankings

from dev.simulate.volumes import SHAPE, START, WEEKDAYS, DrawnCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from rankscope.monitor.rules.state import Finding

    Numbers = NDArray[np.float64]
    Codes = NDArray[np.int64]

MODEL = "search"
DISCOUNTS = 1 / np.log2(np.arange(RANKS) + 2.0)
NAMES = ("queries", "documents", "worth", "clicks")
KINDS = 2
"""How many kinds of people there are, with tastes of their own."""


@dataclass(frozen=True, kw_only=True)
class SearchWorld:
    """Searches of a model.

    Args:
        seed: Where chance begins.
        days: How many days.
        change: The day from which on something is different.
        a_day: How many searches on a weekday.
        queries: How many queries there are; the n-th is searched for 1 / (n + 10) times as often.
        documents: How many documents each has, of which 10 are shown.
        relevance: The mean relevance of a document.
        steep: How much less people look at lower ranks: at rank r, r ** -steep.
        steep_after: The same after the change.
        noise: The error of the scores by which documents are ordered.
        noise_after: The same after the change.
        daily: How much of the lists is ordered anew each day.
        tastes: How much what is relevant differs between two kinds of people.
        is_personal: Whether documents are ordered by the taste of the person, after the change.
        is_trained: Whether they are ordered by their clicks before it, corrected for position.
        head: By what the share of the ten most frequent queries is multiplied, after it.
        renewed: The share of documents that are replaced each day.
        stop: The chance that a person stops after a click, and looks no further.
        moods: How much people differ in how readily they click: two kinds, at 1 more and 1 less.
    """

    seed: int
    days: int
    change: int = 10_000
    a_day: int = 2000
    queries: int = 300
    documents: int = 15
    relevance: float = 0.15
    steep: float = 0.7
    steep_after: float | None = None
    noise: float = 0.15
    noise_after: float | None = None
    daily: float = 0.0
    tastes: float = 0.0
    is_personal: bool = False
    is_trained: bool = False
    head: float = 1.0
    renewed: float = 0.0
    stop: float = 0.0
    moods: float = 0.0

    def looks(self, *, is_changed: bool) -> Numbers:
        """Return how often people look at each rank."""
        is_other = is_changed and self.steep_after is not None
        steep = self.steep_after if is_other else self.steep
        found: Numbers = np.exp(-float(steep or 0.0) * np.log(np.arange(1.0, RANKS + 1)))
        return found

    def click(
        self, draw: np.random.Generator, worth: Numbers, *, is_changed: bool
    ) -> NDArray[np.bool_]:
        """Draw the clicks on lists of documents with some relevance."""
        mood = 1 + self.moods * draw.choice((-1.0, 1.0), size=(len(worth), 1))
        clicks = draw.random(worth.shape) < self.looks(is_changed=is_changed) * worth * mood
        stops = clicks & (draw.random(clicks.shape) < self.stop)
        found: NDArray[np.bool_] = clicks & (np.cumsum(stops, axis=1) - stops == 0)
        return found


@dataclass(frozen=True)
class Day:
    """The searches of a day.

    Args:
        queries: Their queries.
        documents: int64 [searches, 10], the documents of each list.
        worth: float64 [searches, 10], how relevant they are to the person.
        clicks: Whether each was clicked.
    """

    queries: Codes
    documents: Codes
    worth: Numbers
    clicks: NDArray[np.bool_]

    def average(self, clicks: NDArray[np.bool_]) -> float:
        """Return the mean nDCG of the lists, by some clicks on them."""
        count = clicks.sum(axis=1)
        ideal = np.append(1.0, np.cumsum(DISCOUNTS))[count]
        return float(((clicks @ DISCOUNTS) / ideal)[count > 0].mean())


class DrawnSearches(DrawnCounts):
    """Searches that were drawn instead of read.

    Args:
        world: What is known of them.
    """

    def __init__(self, world: SearchWorld) -> None:
        self.world = world
        draw = np.random.default_rng([world.seed, 77])
        level = world.a_day * WEEKDAYS[np.arange(world.days) % 7]
        hours = draw.poisson(np.outer(level, SHAPE / SHAPE.sum()).ravel())
        super().__init__({TOTAL: hours, Segment(MODEL): hours})
        self.drawn = self._draw(draw, hours.reshape(-1, HOURS).sum(axis=1))

    def _draw(self, draw: np.random.Generator, counts: Codes) -> list[Day]:
        world = self.world
        shape = (world.queries, world.documents)
        spread = 0.8, 0.8 / world.relevance - 0.8
        worth = np.repeat(draw.beta(*spread, shape)[None], KINDS, axis=0)
        for kind in range(KINDS):
            is_own = draw.random(shape) < world.tastes
            worth[kind][is_own] = draw.beta(*spread, int(is_own.sum()))
        names = np.arange(worth[0].size).reshape(shape)
        noise, new = draw.normal(size=(2, *shape))
        clicked, looked = np.zeros((2, world.queries, world.documents))
        shares = 1 / (np.arange(world.queries) + 10)
        days: list[Day] = []
        for day, count in enumerate(counts.tolist()):
            is_changed = day >= world.change
            if world.renewed:
                is_new = draw.random(shape) < world.renewed
                worth[:, is_new] = draw.beta(*spread, int(is_new.sum()))
                names[is_new] = names.max() + 1 + np.arange(is_new.sum())
            again = draw.random(world.queries) < world.daily
            noise[again] = draw.normal(size=(int(again.sum()), world.documents))
            scores = worth.mean(axis=0) + world.noise * noise
            if is_changed and world.noise_after is not None:
                scores = worth.mean(axis=0) + world.noise_after * new
            if is_changed and world.is_trained:
                scores = (clicked + 0.3) / (looked + 2)
            of_kinds = np.repeat(scores[None], KINDS, axis=0)
            if is_changed and world.is_personal:
                of_kinds = worth + (world.noise_after or 0.0) * new
            orders = (-of_kinds).argsort(axis=2)[:, :, :RANKS]
            weights = (
                shares * np.where(np.arange(world.queries) < 10, world.head, 1.0)
                if is_changed
                else shares
            )
            queries = draw.choice(world.queries, size=count, p=weights / weights.sum())
            kinds = draw.integers(KINDS, size=count)
            lists = orders[kinds, queries]
            found = worth[kinds[:, None], queries[:, None], lists]
            looks = world.looks(is_changed=is_changed)
            clicks = world.click(draw, found, is_changed=is_changed)
            days.append(Day(queries, names[queries[:, None], lists], found, clicks))
            if world.is_trained and not is_changed:
                at = queries[:, None], lists
                np.add.at(clicked, at, clicks)
                np.add.at(looked, at, np.broadcast_to(looks, clicks.shape))
        return days

    def count_labels(self, day: int) -> LabelDay:
        """Count the labels of a day."""
        at = (day - START) // DAY
        if not 0 <= at < len(self.drawn):
            return LabelDay({}, {})
        return LabelDay({}, {MODEL: np.append(self.drawn[at].clicks.sum(axis=0), 0).astype(float)})

    def read_rankings(self, model: str, days: Sequence[int], share: float, now: int) -> Rankings:
        """Return the searches of some days."""
        del model, share, now
        return Rankings.join([Rankings.none(), *(self._make(day) for day in days)])

    def _make(self, day: int) -> Rankings:
        drawn = self.drawn[(day - START) // DAY]
        count = len(drawn.queries)
        return Rankings(
            queries=_hash(drawn.queries),
            has_key=np.ones(count, dtype=np.bool_),
            makers=np.full(count, day // DAY),
            offsets=np.arange(count + 1) * RANKS,
            documents=_hash(drawn.documents.ravel()),
            ranks=np.tile(np.arange(1, RANKS + 1), count),
            grades=drawn.clicks.ravel().astype(np.float64),
        )

    def read_period(self, first: int, last: int) -> Rankings:
        """Return the searches of days by their numbers."""
        days = range(START + first * DAY, START + last * DAY, DAY)
        return self.read_rankings("", days, 1.0, 0)

    def find_truth(self, first: int, last: int, draws: int = 20) -> float:
        """Return the mean nDCG of the lists of some days, were they looked at as before."""
        draw = np.random.default_rng([self.world.seed, 78])
        days = self.drawn[first:last]
        joined = Day(*(np.concatenate([getattr(day, name) for day in days]) for name in NAMES))
        drawn = (
            joined.average(self.world.click(draw, joined.worth, is_changed=False))
            for _ in range(draws)
        )
        return float(np.mean([*drawn]))


def _hash(numbers: Codes) -> Codes:
    """Return numbers that are spread over 64 bits, as those of texts are."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(31)
    found: Codes = (mixed * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)
    return found


RULE = DataRule(name="data", kind="data", watches=("label_ranks",))


def watch_searches(drawn: DrawnSearches, since: int, until: int) -> list[tuple[int, Finding]]:
    """Check a world once a day, and return what is said of the ranks of labels, with the day."""
    progress = DataProgress.begin("", 0, 0)
    said = []
    for day in range(since, until):
        # Labels of a day are final two hours after it.
        moment = START + (day + 1) * DAY + 2 * HOUR
        findings, progress = check_data(drawn, RULE, progress, moment)
        said += [(day, one) for one in findings if one.kind == "label_ranks"]
    return said
