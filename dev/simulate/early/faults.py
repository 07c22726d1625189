"""Faults of whole rankings, from the log of a service to its warnings."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import count_micros, to_micros
from rankscope.monitor.rules.early.check import check_signals
from rankscope.monitor.rules.early.progress import EarlyProgress
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.run import open_table
from rankscope.monitor.rules.run import Scene
from rankscope.monitor.signals.refresh import refresh_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray
    from rankscope.monitor.rules.early.progress import EarlyWarning
    from rankscope.monitor.store.store import Store

SEED = 20270903
"""Not used before the first record was made; nor were `SETTINGS` and the magnitudes of `FAULTS`."""
START = datetime(2026, 6, 1, tzinfo=UTC)
BROKEN = 22
"""The day on which faults begin."""
FOLLOWED = 3
"""For how many days a warning is waited for."""
WATCHED = 8
"""How many days before are checked, so that the rule knows how surprising usual days are."""
SHAPE = np.array([1.0] * 7 + [3.0] * 10 + [5.0] * 7) / 72
CANDIDATES, SHOWN, QUERIES, DOCUMENTS = 40, 10, 150, 600
TURNOVER = 0.03
RULE = EarlyRule(name="early", kind="early")
WINDOW = timedelta(days=1)
"""The attribution window: once it has passed since the fault began, the first labels are final."""


class Setting(NamedTuple):
    """What traffic is like.

    Args:
        a_day: How many rankings come on a day.
        slices: How many slices there are.
        share: The share of the slice that may be affected.
        hour: When on the day faults begin.
    """

    a_day: int
    slices: int
    share: float
    hour: int

    @property
    def began(self) -> datetime:
        """When faults begin."""
        return START + timedelta(days=BROKEN, hours=self.hour)

    def __str__(self) -> str:
        """Describe it in a few words."""
        return f"{self.a_day} a day, {self.slices} slices, {self.share:.0%} in one, {self.hour}:00"


SETTINGS = (
    Setting(180, 4, 0.35, 11),
    Setting(280, 6, 0.2, 6),
    Setting(700, 9, 0.3, 16),
    Setting(900, 12, 0.09, 22),
)


class Fault(NamedTuple):
    """What goes wrong.

    Args:
        name: What it is called.
        what: What its magnitudes are.
        sizes: Its magnitude in each of the settings.
        is_slice: Whether only the slice has it, in each of the settings.
        within: How many of the affected rankings a warning may take.
        share: The share of runs that have to be found in time.
    """

    name: str
    what: str
    sizes: tuple[float, ...]
    is_slice: tuple[bool, ...] = (False, True, False, True)
    within: int = 150
    share: float = 0.9


CONSTANT = Fault("constant scores", "of lists", (0.8, 0.75, 0.7, 0.95))
LOST = Fault(
    "a lost feature: half of the lists reordered", "of the score left", (0.4, 0.3, 0.35, 0.2)
)
INDEX = Fault(
    "an index that lost documents", "of documents", (0.2, 0.19, 0.22, 0.18), (False,) * 4, 450
)
LOCALE = Fault(
    "one slice shows another's documents", "of its lists", (0.85, 0.95, 0.7, 0.9), (True,) * 4
)
# Its scores stay in order, so that only overlap with earlier lists tells of it.
SWAPPED = Fault("top of lists reversed, scores as usual", "documents", (3, 5, 4, 4), share=0.5)
MOVED = Fault("top of lists reversed, with their scores", "documents", (5, 4, 3, 7))
FAULTS = (CONSTANT, LOST, INDEX, LOCALE, SWAPPED, MOVED)


class Warned(NamedTuple):
    """What came of a fault.

    Args:
        rankings: How many affected rankings there were until the warning was sent; infinity for
            no warning.
        hours: How many hours there were.
        signal: The signal that it names.
        is_named: Whether it names the stream that is affected, and nothing else.
    """

    rankings: float = np.inf
    hours: float = np.inf
    signal: str = ""
    is_named: bool = False


class Day(NamedTuple):
    """The rankings of a day, before they are shown: what a fault changes.

    Args:
        times: Their times, in hours.
        users: Their users.
        places: Their slices, by number.
        queries: Their queries, by number.
        noise: What is added to the score of each candidate.
        other: The score of each candidate without the feature.
        chance: A number from 0 to 1 that tells whether a fault has a ranking.
        scores: The score of each candidate, by slice and query.
        names: The name of each document, by slice.
    """

    times: NDArray[np.float64]
    users: NDArray[np.int64]
    places: NDArray[np.int64]
    queries: NDArray[np.int64]
    noise: NDArray[np.float64]
    other: NDArray[np.float64]
    chance: NDArray[np.float64]
    scores: NDArray[np.float64]
    names: NDArray[np.str_]


class World:
    """A service whose catalogue is new by 3 % every day.

    Args:
        setting: What traffic is like.
        seed: The seed of the generator.
        days: How many days there are.
    """

    def __init__(self, setting: Setting, seed: Sequence[int], days: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.setting = setting
        slices = setting.slices
        self._scores = random.normal(0, 1, (slices, QUERIES, CANDIDATES))
        self.found = random.integers(0, DOCUMENTS, (slices, QUERIES, CANDIDATES))
        self._names = np.array(
            [[f"{each}-{at}" for at in range(DOCUMENTS)] for each in range(slices)]
        )
        self._names = self._names.astype("U20")
        self.rank = random.permuted(np.tile(np.arange(DOCUMENTS), (slices, 1)), axis=1) / DOCUMENTS
        often = 1 / np.arange(1, QUERIES + 1) ** 0.9
        self._often = often / often.sum()
        users = 3 * setting.a_day
        weight = random.pareto(2.0, users) + 1
        self._weight = weight / weight.sum()
        rest = random.dirichlet(np.full(slices - 1, 3.0)) * (1 - setting.share)
        self._home = random.choice(slices, users, p=np.concatenate([[setting.share], rest]))
        self.days = [self._draw_day(day) for day in range(days)]

    def _draw_day(self, day: int) -> Day:
        random = self.random
        new = random.random(self.rank.shape) < TURNOVER
        fresh = np.array([f"{at}-{day}" for at in range(DOCUMENTS)])
        mine = np.array([[f"{at}-" for at in range(len(new))]]).T
        self._names = np.where(new, np.char.add(mine, fresh), self._names)
        is_new = np.take_along_axis(new[:, None], self.found, axis=2)
        self._scores = np.where(is_new, random.normal(0, 1, self._scores.shape), self._scores)
        count = random.poisson(self.setting.a_day)
        users = random.choice(len(self._home), count, p=self._weight)
        return Day(
            np.sort(random.choice(24, count, p=SHAPE) + random.random(count)),
            users,
            self._home[users],
            random.choice(QUERIES, count, p=self._often),
            random.normal(0, 0.1, (count, CANDIDATES)),
            random.normal(0, 1, (count, CANDIDATES)),
            random.random(count),
            self._scores,
            self._names,
        )

    def show(
        self, day: int, fault: Fault | None = None, size: float = 0.0, *, is_slice: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield the rankings of a day, those from the hour of a fault on with the fault."""
        drawn = self.days[day]
        for at, time in enumerate(drawn.times.tolist()):
            place, query = int(drawn.places[at]), int(drawn.queries[at])
            moment = START + timedelta(days=day, hours=time)
            is_on = fault is not None and moment >= self.setting.began
            is_on = is_on and (place == 0 or not is_slice)
            has = fault if is_on else None
            source = 1 if has is LOCALE and drawn.chance[at] < size else place
            score = drawn.scores[source, query] + drawn.noise[at]
            if has is LOST and drawn.chance[at] < 0.5:
                score = size * drawn.scores[source, query] + drawn.other[at]
            order = np.argsort(-score)
            documents = self.found[source, query][order]
            if has is INDEX:
                is_left = self.rank[source][documents] >= size
                order, documents = order[is_left], documents[is_left]
            listed = list(dict.fromkeys(drawn.names[source][documents].tolist()))[:SHOWN]
            shown = score[order][: len(listed)]
            if has is CONSTANT and drawn.chance[at] < size:
                shown = np.zeros(len(listed))
            if has in {SWAPPED, MOVED}:
                top = int(size)
                listed[:top] = listed[:top][::-1]
                if has is MOVED:
                    shown[:top] = shown[:top][::-1].copy()
            yield {
                "ranking_id": f"{day} {at}",
                "time": moment.isoformat(),
                "model": "search",
                "version": "3",
                "user_id": f"u{drawn.users[at]}",
                "query_key": f"{place} {query}",
                "attributes": {"locale": str(place)},
                "doc_ids": listed,
                "scores": shown.tolist(),
            }


class Service:
    """The monitor of a world: what it logs, and what its rule finds.

    Args:
        folder: Where its store is.
        world: The world.
        progress: What the rule remembers.
    """

    def __init__(self, folder: Path, world: World, progress: EarlyProgress | None = None) -> None:
        self.folder, self.world = folder, world
        first = to_micros(START + timedelta(days=BROKEN - WATCHED))
        self.progress = progress or EarlyProgress(basis="", first=first, following=first)
        self.opened: list[EarlyWarning] = []

    def log(self, events: Sequence[dict[str, Any]], end: datetime) -> None:
        """Log rankings, and check the rule as of every hour up to an end, or its first warning."""
        places = tuple(str(at) for at in range(self.world.setting.slices))
        slicing = Slicing(values=(("locale", places),))
        search = define(measures=["nDCG@5"], positive="click", window="24h")
        configuration = Configuration(definition=search, attributes=("locale",), baseline=None)
        now = end + timedelta(microseconds=count_micros(configuration.grace))
        self.grace = now - end
        with Monitor.open(f"{self.folder}/store.db", now=lambda: now) as monitor:
            if not monitor.store.projects():
                monitor.configure(configuration)
            monitor.log_rankings(events)
            store, project = cast("Store", monitor.store), monitor.project
            refresh_signals(store, project, configuration, slicing, now=to_micros(now), threads=1)
            scene = Scene(
                store=store,
                project=project,
                configuration=configuration,
                slicing=slicing,
                rules=(),
                versions=(),
                now=to_micros(now),
                seq=0,
                is_replay=True,
                threads=1,
                made={},
            )
            self._check(scene, to_micros(end))

    def _check(self, scene: Scene, end: int) -> None:
        table = open_table(scene)
        began = to_micros(self.world.setting.began)
        for moment in range(self.progress.following + HOUR, end + 1, HOUR):
            before = {each.key for each in self.progress.warnings}
            _, self.progress = check_signals(table, RULE, self.progress, moment)
            new = [each for each in self.progress.warnings if each.key not in before]
            self.opened += new
            if new and moment > began:
                break


def warn(
    setting: Setting, run: int, seed: int = SEED, faults: Sequence[Fault] = FAULTS
) -> tuple[int, list[Warned]]:
    """Return how many warnings there were before faults, and what came of each fault.

    All faults have the same days before.
    """
    world = World(setting, [seed, run], BROKEN + FOLLOWED)
    place = SETTINGS.index(setting) if setting in SETTINGS else 0
    began, found = setting.began, list[Warned]()
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        before.mkdir()
        service = Service(before, world)
        shown = [event for day in range(BROKEN + 1) for event in world.show(day)]
        is_before = [datetime.fromisoformat(each["time"]) < began for each in shown]
        service.log([each for each, known in zip(shown, is_before, strict=True) if known], began)
        for fault in faults:
            copy = Path(folder) / str(len(found))
            shutil.copytree(before, copy)
            after = Service(copy, world, service.progress)
            is_slice, size = fault.is_slice[place], fault.sizes[place]
            events = [
                event
                for day in range(BROKEN, BROKEN + FOLLOWED)
                for event in world.show(day, fault, size, is_slice=is_slice)
                if datetime.fromisoformat(event["time"]) >= began
            ]
            after.log(events, START + timedelta(days=BROKEN + FOLLOWED))
            found.append(_tell(after, events, is_slice=is_slice))
    return len(service.opened), found


def _tell(service: Service, events: Sequence[dict[str, Any]], *, is_slice: bool) -> Warned:
    """Return what came of a fault."""
    if not service.opened:
        return Warned()
    first = service.opened[0]
    began = service.world.setting.began
    sent = datetime.fromtimestamp(first.found / 1e6, UTC) + service.grace
    affected = [
        each
        for each in events
        if (each["attributes"]["locale"] == "0" or not is_slice)
        and datetime.fromisoformat(each["time"]) < sent
    ]
    named = (("locale", "0"),) if is_slice else ()
    return Warned(
        len(affected),
        (sent - began) / timedelta(hours=1),
        first.facts[0].signal,
        is_named=first.segment.slice == named,
    )
