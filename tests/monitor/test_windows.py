from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from rankscope import UsageError, _core
from rankscope.errors import FormatError
from rankscope.monitor import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import Definition, define
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.evaluate import refresh as refreshing
from rankscope.monitor.evaluate.values import evaluate_chunks, name_columns
from rankscope.monitor.evaluate.windows import COUNTS, Cell, Key, sum_cells
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.generated import examples
from tests.monitor import plain
from tests.monitor.chunks import integers
from tests.monitor.store.conformance import read_back
from tests.refusals import refuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.events.event import Environment, Event, LabelKind
    from rankscope.monitor.store.store import Store


MUSIC = define(
    measures=["nDCG@1", "nDCG(dcg='exp-log2')@3", "P@2", "RR@3"],
    positive={"click": 1, "buy": 5, "return": -2},
    window=2 * 3600,
    max_grade=50,
)
DEFINITIONS = (
    MUSIC,
    define(measures="nDCG@3", positive="click", window=3600, combine="max", policy="empty=zero"),
    define(measures="nDCG@2", positive="buy", window=1, unlabelled=None, policy="empty=one"),
)
ATTRIBUTES = ["country", "device"]
NO_VALUES = Slicing(tuple((name, ()) for name in ATTRIBUTES), (("country", "device"),))
MOST = 2
TIMES = st.integers(0, 5 * HOUR // SECOND).map(lambda seconds: seconds * SECOND)


def sum_store(
    store: SQLiteStore,
    definition: Definition,
    now: int | None,
    slicing: Slicing,
    **span: Any,
) -> dict[Key, Cell]:
    chunks = store.read("music", **span)
    evaluated = evaluate_chunks(chunks, definition, now=now, threads=1)
    return sum_cells(evaluated, store.contexts("music"), slicing)


def spell_out(cells: dict[Key, Cell], definition: Definition) -> dict[Any, Any]:
    found = {}
    for key, cell in cells.items():
        sums = zip(cell.defined, _core.round_sums(cell.sums), strict=True)
        counts = dict(zip(COUNTS, cell.counts, strict=True))
        found[key] = (counts, dict(zip(name_columns(definition), sums, strict=True)))
    return found


def merge(one: dict[Key, Cell], other: dict[Key, Cell]) -> dict[Key, Cell]:
    both = {key: cell.merge(other[key]) for key, cell in one.items() if key in other}
    return one | other | both


class Events(RuleBasedStateMachine):
    """Events come as they like; windows are what the plain model says of the set of them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = SQLiteStore(Path(self.folder.name) / "events.db", group_seconds=0)
        self.rankings: dict[str, Ranking] = {}
        self.labels: dict[str, Label] = {}
        self.waiting: list[Ranking | Label] = []

    @rule(
        number=st.integers(0, 9),
        time=TIMES,
        ranks=st.sampled_from([(1, 2, 3, 4), (), (2, 3), (1, 4, 5), (9,), (1, 2)]),
        scored=st.sampled_from([(), (3.0, 3.0, 1.0, 0.5), (4.0, 3.0, 2.0, None)]),
        logged=st.sampled_from([(), (1.0, None, 0.0, 2.0)]),
        version=st.sampled_from("34"),
        environment=st.sampled_from(["production", "validation"]),
        device=st.sampled_from(["", "tv", "phone", "car"]),
        country=st.sampled_from(["", "de"]),
    )
    def show(self, number: int, time: int, ranks: tuple[int, ...], **given: Any) -> None:
        """A ranking comes, unless there is one of its number, whose content stays."""
        name, docs = f"r{number}", "abcd"[: len(ranks)]
        scores, grades = (given[each][: len(ranks)] for each in ("scored", "logged"))
        attributes = tuple((name, given[name]) for name in ATTRIBUTES if given[name])
        told = "", "", "m", given["version"], given["environment"], attributes
        ranking = Ranking(name, name, time, Items(tuple(docs), ranks, scores, grades), *told)
        self.waiting.append(ranking)
        self.rankings.setdefault(ranking.event_id, ranking)

    @rule(
        number=st.integers(0, 40),
        of=st.integers(0, 9),
        doc_id=st.sampled_from("abcdx"),
        time=TIMES,
        said=st.sampled_from([("click",), ("click", "buy"), ("return",), ("view",)])
        | st.sampled_from([0.0, 0.25, 3.0, 60.0]),
        kind=st.sampled_from(LABEL_KINDS),
    )
    def tell(
        self,
        *,
        number: int,
        of: int,
        doc_id: str,
        time: int,
        said: tuple[str, ...] | float,
        kind: LabelKind,
    ) -> None:
        is_retraction = kind == "retraction"
        names = said if isinstance(said, tuple) and not is_retraction else ()
        value = said if isinstance(said, float) and not is_retraction else None
        label = Label(f"l{number}", f"r{of}", doc_id, time, names, value, kind)
        self.waiting.append(label)
        self.labels.setdefault(label.event_id, label)

    @rule(seed=st.integers(0, 2**32))
    def send_again(self, seed: int) -> None:
        """All that came comes again, in another order."""
        events: list[Ranking | Label] = [*self.rankings.values(), *self.labels.values()]
        random.Random(seed).shuffle(events)
        self.waiting += events

    @rule(
        definition=st.sampled_from(DEFINITIONS),
        now=st.none() | TIMES | st.just(10 * HOUR),
        seed=st.integers(0, 2**32),
        size=st.integers(1, 4),
        at=TIMES,
    )
    def look(self, definition: Definition, now: int | None, seed: int, size: int, at: int) -> None:
        """Windows are those of the plain model, of any order, and of two halves together."""
        self.store.append("music", self.waiting)
        self.waiting = []
        slicing = extend_slicing(NO_VALUES, self.store.contexts("music"), MOST)
        windows = sum_store(self.store, definition, now, slicing)
        rankings, labels = list(self.rankings.values()), list(self.labels.values())
        wanted = plain.windows(rankings, labels, (definition, now), dict(slicing.values), HOUR)
        assert spell_out(windows, definition) == wanted
        events: list[Ranking | Label] = [*rankings, *labels]
        random.Random(seed).shuffle(events)
        with TemporaryDirectory() as folder, SQLiteStore(f"{folder}/other.db") as other:
            other.append("music", events)
            assert sum_store(other, definition, now, slicing, size=size) == windows
        before = sum_store(self.store, definition, now, slicing, until=at)
        after = sum_store(self.store, definition, now, slicing, since=at)
        assert merge(before, after) == merge(after, before) == windows

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestEvents = Events.TestCase
TestEvents.settings = examples(8, stateful_step_count=20)


def test_windows_begin_at_multiples_of_their_length_before_1970_too() -> None:
    with TemporaryDirectory() as folder, SQLiteStore(f"{folder}/events.db") as store:
        items = Items(("a",), (1,))
        times = (-1, 0, HOUR - 1, HOUR)
        store.append("music", [Ranking(f"r{at}", f"r{at}", at, items) for at in times])
        cells = sum_store(store, MUSIC, None, Slicing())
    counted = {key.start: cell.tally("rankings") for key, cell in cells.items()}
    assert counted == {-HOUR: 1, 0: 2, HOUR: 1}


def test_sums_are_sums_and_groups_below_their_count() -> None:
    with pytest.raises(ValueError, match="packed sums"):
        _core.round_sums(b"\x00\x05")
    values = np.array([1.0, np.nan, 0.5])
    (sums,) = _core.sum_groups(integers([0, 0, -1]), [values, -values], 1)
    assert _core.round_sums(sums) == [1, -1]
    for groups, count in [([0, 0, 1], 1), ([0, 0], 1)]:
        with pytest.raises(ValueError, match="group"):
            _core.sum_groups(integers(groups), [values], count)
    with pytest.raises(ValueError, match="finite"):
        _core.sum_groups(integers([0]), [np.array([np.inf])], 1)


NOW = 60 * HOUR
ITEMS = Items(("a", "b", "c"), (1, 2, 3))
TRAINING = Configuration(
    definition=define(measures=["nDCG@3"], positive={"click": 1}, window="2h"),
    attributes=("device",),
    baseline=BaselineChoice(environment="training"),
)


def make_events(
    seed: int, hours: range, environment: Environment, prefix: str = "t", count: int = 60
) -> list[Event]:
    generator = random.Random(seed)
    events: list[Event] = []
    for number in range(count):
        time = generator.choice(hours) * HOUR + generator.randrange(60) * MINUTE
        name = f"{prefix}{number}"
        device, user = ("device", ("tv", "phone")[number % 2]), f"u{number % 7}"
        shown = Ranking(
            f"e{name}",
            name,
            time,
            ITEMS,
            user_id=user,
            environment=environment,
            attributes=(device,),
        )
        clicked = generator.choice("abc")
        events += [shown, Label(f"l{name}", name, clicked, time + MINUTE, ("click",))]
    return events


PRODUCTION = make_events(0, range(20, 50), "production", "p")
OLD = make_events(1, range(10, 30), "training")
# Some of the same ids, other hours, other clicks.
NEW = make_events(2, range(5, 22), "training", count=40)


def open_monitor(path: Path) -> Monitor:
    return Monitor.open(str(path), now=lambda: to_datetime(NOW), threads=1)


def describe(monitor: Monitor) -> dict[str, Any]:
    """What an evaluation has left, but for what events are numbered as."""
    store, digest = monitor.store, TRAINING.digest
    progress = store.progress(monitor.project, digest)
    empty = {hour.start for hour in store.hours(monitor.project, digest)} - {
        cell.start for cell in store.cells(monitor.project, digest)
    }
    return {
        "events": read_back(store, monitor.project),
        "baseline": progress and progress.baseline,
        "hours": [hour for hour in store.hours(monitor.project, digest) if hour.start not in empty],
        "cells": [
            store.cells(monitor.project, digest, length=length) for length in (HOUR, 24 * HOUR)
        ],
        "versions": store.versions(monitor.project),
        "behind": [hour for hour in store.open_hours(monitor.project, digest) if hour.is_behind],
    }


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, Any]:
    """What is left where there never was another set."""
    with open_monitor(tmp_path / "expected.db") as monitor:
        monitor.configure(TRAINING)
        monitor.writer.append("default", PRODUCTION + NEW)
        monitor.evaluate()
        return describe(monitor)


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    made = open_monitor(tmp_path / "events.db")
    made.configure(TRAINING)
    made.writer.append("default", PRODUCTION + OLD)
    made.evaluate()
    return made


def test_nothing_of_the_old_set_is_left(monitor: Monitor, expected: dict[str, Any]) -> None:
    assert describe(monitor) != expected
    deleted = monitor.writer.replace_set("default", "training", NEW)
    assert (deleted.rankings, deleted.labels) == (60, 60)
    monitor.evaluate()
    assert describe(monitor) == expected
    monitor.close()
    with SQLiteStore(monitor.store.path) as store:  # type: ignore[attr-defined]  # of SQLite
        store.verify()
        assert read_back(store, "default") == expected["events"]


def test_a_set_can_be_replaced_before_anything_was_evaluated(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    with open_monitor(tmp_path / "new.db") as monitor:
        monitor.configure(TRAINING)
        monitor.writer.append("default", OLD + PRODUCTION)
        monitor.writer.replace_set("default", "training", NEW)
        monitor.evaluate()
        assert describe(monitor) == expected


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["sum_day", "find_baseline"])
@pytest.mark.parametrize("is_before", [True, False])
def test_an_evaluation_never_sees_parts_of_two_sets(
    moment: str,
    is_before: bool,
    monitor: Monitor,
    expected: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = getattr(refreshing, moment)
    calls = []

    def interrupted(store: Store, *args: object, **named: Any) -> object:
        calls.append(1)
        if len(calls) == 1 and is_before:
            monitor.writer.replace_set("default", "training", NEW)
        found = original(store, *args, **named)
        if len(calls) == 1 and not is_before:
            monitor.writer.replace_set("default", "training", NEW)
        return found

    monkeypatch.setattr(refreshing, moment, interrupted)
    # Something new, so that hours of the old set are summed again.
    monitor.writer.append(
        "default", [Label("late", f"t{at}", "a", 29 * HOUR, ("click",)) for at in range(1)]
    )
    monitor.evaluate()
    assert len(calls) > 1
    assert describe(monitor) == expected


def test_an_id_outside_the_set_leaves_it_as_it_was(monitor: Monitor) -> None:
    before = describe(monitor)
    stored = read_back(monitor.store, "default")
    taken = NEW + make_events(3, range(20, 21), "training", "p", count=1)
    with refuses(UsageError, "set_conflict", match="stays as it was"):
        monitor.writer.replace_set("default", "training", taken)
    assert read_back(monitor.store, "default") == stored
    monitor.evaluate()
    assert describe(monitor) == before
    monitor.close()


def test_labels_that_came_before_the_new_set_do_not_wait_any_more(monitor: Monitor) -> None:
    early = Label("early", "new", "a", 12 * HOUR, ("click",))
    monitor.writer.append("default", [early])
    assert monitor.store.count_pending("default") == 1
    shown = Ranking("e", "new", 11 * HOUR, Items(("a",), (1,)), environment="training")
    monitor.writer.replace_set("default", "training", [shown])
    assert monitor.store.count_pending("default") == 0
    monitor.verify()
    monitor.close()


def test_a_set_of_objects_is_replaced_as_one_of_events(monitor: Monitor) -> None:
    new = [
        {
            "ranking_id": f"n{number}",
            "time": to_datetime(HOUR + number * MINUTE),
            "environment": "training",
            "doc_ids": ["a", "b", "c"],
            "relevance": [1, 0, 0],
        }
        for number in range(3)
    ]
    with pytest.raises(FormatError, match="1 of 4 rankings were rejected"):
        monitor.replace_set("training", [*new, {**new[0], "environment": "production"}])
    assert monitor.replace_set("training", new).accepted == len(new)
    stored = {
        name
        for name, (shown, *_) in read_back(monitor.store, "default").items()
        if isinstance(shown, Ranking) and shown.environment == "training"
    }
    assert stored == {"n0", "n1", "n2"}
    with pytest.raises(UsageError, match="expected validation or training"):
        monitor.replace_set("production", new)  # type: ignore[arg-type]  # as a caller may
    monitor.close()
