"""What every store guarantees for events."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import pytest
from rankscope.errors import FileError
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.outcome import Outcome
from rankscope.monitor.store.records import Deleted, Version
from rankscope.monitor.store.store import Store
from rankscope.monitor.store.transaction import Transaction

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.refusals import refuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Environment, Event

Open: TypeAlias = Callable[[], AbstractContextManager[Store]]


def statuses(store: Store, *events: Event, project: str = "music") -> list[str]:
    return [outcome.status for outcome in store.append(project, events)]


def count_seen(transaction: Transaction, count: int) -> None:
    """Count something that no other code counts."""
    transaction.counts[transaction.project("music"), "seen"] += count


SHOWN = Ranking("e", "r", 5, Items(("a", "b"), (1, 2)))
SCORED = Ranking("e", "r", 5, Items(("a", "b"), (1, 2), (0.0, -1.5), (0.0, 2.0)))
CLICK = Label("l", "r", "a", 5, ("click",))
GRADE = Label("l", "r", "a", 5, (), 2.0)
SAME_ID: list[tuple[Event, dict[str, Any], str]] = [
    (SHOWN, {"time": 8}, "conflict"),
    (SHOWN, {"ranking_id": "other"}, "conflict"),
    (SHOWN, {"query_key": "other"}, "conflict"),
    (SHOWN, {"user_id": "other"}, "conflict"),
    (SHOWN, {"model": "other"}, "conflict"),
    (SHOWN, {"version": "other"}, "conflict"),
    (SHOWN, {"environment": "training"}, "conflict"),
    (SHOWN, {"attributes": (("device", "tv"),)}, "conflict"),
    (SHOWN, {"items": Items(("b", "a"), (1, 2))}, "conflict"),
    (SHOWN, {"items": Items(("a", "b"), (1, 3))}, "conflict"),
    (SHOWN, {"items": Items(("a", "b"), (1, 2), (1.0, None))}, "conflict"),
    (SHOWN, {"items": Items(("a", "b"), (1, 2), (), (1.0, None))}, "conflict"),
    (SHOWN, {"items": Items(("ab",), (1,))}, "conflict"),
    (SCORED, {"items": replace(SCORED.items, scores=(0.0, -1.25))}, "conflict"),
    (SCORED, {"items": replace(SCORED.items, relevance=(0.0, None))}, "conflict"),
    (CLICK, {"ranking_id": "s"}, "conflict"),
    (CLICK, {"doc_id": "b"}, "conflict"),
    (CLICK, {"time": 6}, "conflict"),
    (CLICK, {"labels": ("buy",)}, "conflict"),
    (CLICK, {"labels": ("click", "buy")}, "conflict"),
    (CLICK, {"kind": "correction"}, "conflict"),
    (GRADE, {"value": 2.5}, "conflict"),
    (GRADE, {"value": None, "labels": ("click",)}, "conflict"),
    (CLICK, {}, "duplicate"),
    # The two zeros are equal.
    (replace(GRADE, value=0.0), {"value": -0.0}, "duplicate"),
    (SCORED, {"items": replace(SCORED.items, scores=(-0.0, -1.5))}, "duplicate"),
    (SCORED, {"items": replace(SCORED.items, relevance=(-0.0, 2.0))}, "duplicate"),
]


class EventConformance:
    """Tests of events: each one is stored once, whatever their order."""

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert (store.projects(), store.counters("music"), store.last_seq) == ([], {}, 0)
        assert list(store.read("music")) == []
        assert store.find_ranking("music", "r") is None
        assert store.count_pending("music") == store.lost_events() == 0

    def test_what_is_stored_comes_back(self, opened: Open) -> None:
        ranking = Ranking(
            "e",
            "r",
            5,
            Items(("a", "日本", ""), (1, 2, 9), (1.5, None, 1e300), (None, 2.0, None)),
            "jazz",
            "u",
            "m",
            "4",
            "validation",
            (("country", "de"), ("device", "tv")),
        )
        label = Label("l", "r", "a", 7, ("click", "buy"), None, "correction")
        with opened() as store:
            assert statuses(store, ranking, label) == ["accepted", "accepted"]
        with opened() as store:
            assert store.find_ranking("music", "r") == ranking
            assert store.find_labels("music", "r") == [label]
            assert read_back(store, "music") == {
                "r": [replace(ranking, event_id=""), replace(label, event_id="")]
            }
            assert store.last_seq == 2

    def test_sending_an_event_again_changes_nothing(self, opened: Open) -> None:
        events: list[Event] = [make_ranking(1), make_label(1, 1), make_label(2, 9)]
        with opened() as store:
            assert statuses(store, *events) == ["accepted"] * 3
            before = read_back(store, "music")
            assert statuses(store, *reversed(events)) == ["duplicate"] * 3
            assert statuses(store, *events, *events) == ["duplicate"] * 6
        with opened() as store:
            assert statuses(store, *events) == ["duplicate"] * 3
            assert read_back(store, "music") == before
            assert store.counters("music") == {"accepted": 3, "duplicate": 12}
            assert store.last_seq == 3

    def test_a_batch_may_contain_an_event_twice(self, store: Store) -> None:
        outcomes = store.append("music", [make_ranking(1), make_ranking(1)])
        assert [(outcome.status, outcome.seq) for outcome in outcomes] == [
            ("accepted", 1),
            ("duplicate", 1),
        ]

    @pytest.mark.parametrize(("first", "change", "status"), SAME_ID)
    def test_the_first_of_two_events_with_one_id_is_kept(
        self, store: Store, first: Event, change: dict[str, Any], status: str
    ) -> None:
        assert statuses(store, first) == ["accepted"]
        assert statuses(store, replace(first, **change)) == [status]
        found = store.find_ranking("music", "r") or store.find_labels("music", "r")[0]
        assert repr(found) == repr(first)
        assert store.counters("music") == {"accepted": 1, status: 1}

    def test_a_label_with_the_id_of_a_ranking_is_a_conflict(self, store: Store) -> None:
        ranking = make_ranking(1)
        label = replace(make_label(1, 1), event_id=ranking.event_id)
        assert statuses(store, ranking, label) == ["accepted", "conflict"]

    def test_the_first_of_two_rankings_with_one_ranking_id_is_kept(self, store: Store) -> None:
        first = make_ranking(1)
        same = replace(first, event_id="other")
        other = replace(same, event_id="third", time=9)
        outcomes = store.append("music", [first, same, other])
        assert [outcome.status for outcome in outcomes] == ["accepted", "duplicate", "conflict"]
        assert [outcome.seq for outcome in outcomes] == [1, 1, 1]

    def test_a_ranking_with_the_id_of_a_label_is_a_conflict(self, store: Store) -> None:
        ranking = replace(make_ranking(1), event_id="ranking-1")
        label = replace(make_label(1, 2), event_id="ranking-1")
        assert statuses(store, label) == ["accepted"]
        assert statuses(store, ranking) == ["conflict"]
        assert statuses(store, label) == ["duplicate"]
        assert store.find_ranking("music", "ranking-1") is None

    @pytest.mark.parametrize("seed", range(8))
    def test_the_first_event_with_an_id_is_kept_whatever_has_it(
        self, store: Store, seed: int
    ) -> None:
        drawn = random.Random(seed)
        names = "abcdefgh"
        by_id: dict[str, tuple[int, Event]] = {}
        by_ranking: dict[str, tuple[int, Event]] = {}
        kept: dict[str, Ranking] = {}
        last = 0

        def draw() -> Event:
            event_id, ranking_id = drawn.choices(names, k=2)
            time = drawn.choice((1, 2))
            if drawn.random() < 0.4:
                return Label(event_id, ranking_id, "a", time, ("click",))
            is_alone = drawn.random() < 0.7  # known by one id, as most are
            name = ranking_id if is_alone else event_id
            return Ranking(name, ranking_id, time, Items(("a",), (1,)))

        def expect(event: Event) -> tuple[str, int]:
            nonlocal last
            before = by_id.get(event.event_id)
            if before is None and isinstance(event, Ranking):
                before = by_ranking.get(event.ranking_id)
            content = replace(event, event_id="")
            if before is not None:
                return "duplicate" if before[1] == content else "conflict", before[0]
            last += 1
            by_id[event.event_id] = last, content
            if isinstance(event, Ranking):
                by_ranking[event.ranking_id] = last, content
                kept[event.ranking_id] = event
            return "accepted", last

        for _ in range(20):
            batch = [draw() for _ in range(drawn.randint(1, 4))]
            found = [(one.status, one.seq) for one in store.append("music", batch)]
            assert found == [expect(event) for event in batch]
        for name in names:
            assert store.find_ranking("music", name) == kept.get(name)

    def test_projects_do_not_see_each_other(self, store: Store) -> None:
        assert statuses(store, make_ranking(1), project="music") == ["accepted"]
        assert statuses(store, make_ranking(1), make_label(1, 1), project="films") == [
            "accepted",
            "accepted",
        ]
        assert store.projects() == ["films", "music"]
        assert store.find_labels("music", "ranking-1") == []
        assert read_back(store, "music").keys() == {"ranking-1"}
        assert read_back(store, "other") == {}
        assert store.delete_before("music", 100) == Deleted(1, 0)
        assert read_back(store, "films").keys() == {"ranking-1"}

    def test_versions_are_those_that_have_rankings(self, opened: Open) -> None:
        def show(number: int, version: str, environment: Environment = "production") -> Ranking:
            attributes = (("device", str(number % 3)),)
            return replace(
                make_ranking(number),
                model="m",
                version=version,
                environment=environment,
                attributes=attributes,
            )

        with opened() as store:
            assert store.versions("music") == []
            statuses(store, show(7, "4"), show(5, "3"), show(6, "3"))
            statuses(store, show(2, "3"), show(3, "4", "training"), show(2, "3"), make_label(9, 1))
            statuses(store, show(1, "9"), project="films")
            statuses(store, show(8, "1", "validation"), project="films")
            newest = [store.find_newest_time(project) for project in ("music", "films", "books")]
            assert newest == [7, 1, None]
            assert store.versions("music") == [
                Version("m", "3", "production", 2, 6, 3),
                Version("m", "4", "training", 3, 3, 1),
                Version("m", "4", "production", 7, 7, 1),
            ]
            store.delete_before("music", 6)
        with opened() as store:
            statuses(store, show(10, "4"))
            assert store.versions("music") == [
                Version("m", "3", "production", 6, 6, 1),
                Version("m", "4", "production", 7, 10, 2),
            ]
            assert store.find_newest_time("music") == 10
            store.delete_before("music", 100)
            assert store.versions("music") == []
            assert store.versions("films") == [
                Version("m", "9", "production", 1, 1, 1),
                Version("m", "1", "validation", 8, 8, 1),
            ]

    def test_labels_wait_for_their_ranking(self, store: Store) -> None:
        statuses(store, make_label(1, 1), make_label(2, 1), make_label(3, 2))
        assert store.count_pending("music") == 3
        statuses(store, make_ranking(1))
        assert store.count_pending("music") == 1
        assert len(read_back(store, "music")["ranking-1"]) == 3

    def test_labels_come_in_the_order_in_which_they_count(self, store: Store) -> None:
        labels = [
            Label("b", "ranking-1", "x", 2, value=1.0),
            Label("a", "ranking-1", "x", 2, value=2.0),
            Label("c", "ranking-1", "x", 1, value=3.0),
        ]
        statuses(store, *labels, make_ranking(1))
        assert [label.value for label in store.find_labels("music", "ranking-1")] == [3, 2, 1]
        columns = read_back(store, "music")["ranking-1"][1:]
        assert [label.value for label in columns if isinstance(label, Label)] == [3, 2, 1]

    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_columns_come_in_the_order_of_time(self, store: Store, size: int) -> None:
        numbers = [5, 3, 9, 1, 7]
        for number in numbers:
            statuses(store, make_label(number, number), make_ranking(number))
        names = [f"ranking-{number}" for number in sorted(numbers)]
        assert list(read_back(store, "music", size)) == names
        assert all(len(found) == 2 for found in read_back(store, "music", size).values())
        times = [chunk.times.tolist() for chunk in store.read("music", 3, 9, size)]
        assert [time for chunk in times for time in chunk] == [3, 5, 7]

    @pytest.mark.parametrize("seed", range(5))
    def test_the_order_of_events_changes_nothing(self, store: Store, seed: int) -> None:
        drawn = random.Random(seed)
        kept = [make_ranking(number) for number in range(20)]
        labels = [make_label(number, drawn.randrange(25)) for number in range(60)]
        sent: list[Event] = [*kept, *labels, *drawn.choices(kept, k=9), *drawn.choices(labels, k=9)]
        drawn.shuffle(sent)
        while sent:
            size = drawn.randint(1, 9)
            batch, sent = sent[:size], sent[size:]
            assert "conflict" not in statuses(store, *batch)
        expected: dict[str, list[Event]] = {}
        for ranking in sorted(kept, key=lambda one: (one.time, one.ranking_id)):
            theirs = [one for one in labels if one.ranking_id == ranking.ranking_id]
            theirs.sort(key=lambda one: (one.time, one.event_id))
            expected[ranking.ranking_id] = [
                replace(ranking, event_id=""),
                *(replace(label, event_id="") for label in theirs),
            ]
        assert read_back(store, "music", 7) == expected

    def test_what_was_rejected_is_counted(self, opened: Open) -> None:
        with opened() as store:
            store.append("music", [], {"bad_rank": 2})
            store.append("music", [make_ranking(1)], {"bad_rank": 1, "too_old": 4})
        with opened() as store:
            assert store.counters("music") == {"accepted": 1, "bad_rank": 3, "too_old": 4}

    def test_new_events_change_the_windows_of_their_rankings(self, store: Store) -> None:
        statuses(store, make_ranking(1), make_ranking(2), make_ranking(3))
        changes = store.touched("music", 0)
        assert (changes.seq, changes.times.tolist()) == (3, [1, 2, 3])
        statuses(store, make_label(10, 2), make_label(11, 2), make_label(12, 9))
        changes = store.touched("music", changes.seq)
        assert (changes.seq, changes.times.tolist()) == (6, [2])
        statuses(store, make_ranking(9))
        assert store.touched("music", changes.seq).times.tolist() == [9]
        assert store.touched("music", 7).times.tolist() == []
        statuses(store, make_ranking(-4), make_label(13, 9), make_label(14, -4))
        for after, times in ((0, [-5, 0, 5]), (7, [-5, 5]), (8, [-5, 5]), (9, [-5])):
            assert store.touched("music", after, 5).times.tolist() == times

    def test_old_events_are_deleted_and_counted(self, opened: Open) -> None:
        with opened() as store:
            statuses(store, *(make_ranking(number) for number in range(1100)))
            statuses(store, *(make_label(number, number % 1100) for number in range(2200)))
            statuses(store, *(make_label(5000 + number, 9000) for number in range(3)))
            statuses(store, replace(make_label(1, 9000), event_id="old"))
            last = store.last_seq
            assert store.deleted_before("music") is None
            assert store.delete_before("music", 1050) == Deleted(1050, 2101)
            assert store.deleted_before("music") == 1050
            assert read_back(store, "music", 100).keys() == {
                f"ranking-{number}" for number in range(1050, 1100)
            }
            assert store.count_pending("music") == 3
            assert store.last_seq == last
            counted = {"accepted": 3304, "deleted_labels": 2101, "deleted_rankings": 1050}
            assert store.counters("music") == counted
            assert store.delete_before("music", 1050) == Deleted(0, 0)
            assert store.delete_before("other", 1050) == Deleted(0, 0)
            assert store.delete_before("music", 7) == Deleted(0, 0)
            assert (store.deleted_before("music"), store.deleted_before("other")) == (1050, None)
            # Deleted events can be sent again.
            assert statuses(store, make_ranking(1), make_ranking(1060)) == [
                "accepted",
                "duplicate",
            ]
        with opened() as store:
            assert store.last_seq == last + 1

    def test_a_batch_is_stored_whole_or_not_at_all(self, store: Store) -> None:
        broken = replace(make_ranking(2), time=2**80)
        with pytest.raises(Exception, match=r"."):
            store.append("music", [make_ranking(1), broken])
        assert read_back(store, "music") == {}
        assert store.last_seq == 0
        assert statuses(store, make_ranking(1)) == ["accepted"]

    def test_a_batch_that_fails_does_not_affect_others(self, store: Store) -> None:
        broken = replace(make_ranking(2), time=2**80)
        answers = [
            store.submit("music", [event]) for event in (make_ranking(1), broken, make_ranking(3))
        ]
        assert [answer.exception() is None for answer in answers] == [True, False, True]
        assert read_back(store, "music").keys() == {"ranking-1", "ranking-3"}
        assert store.counters("music") == {"accepted": 2}

    def test_threads_that_send_the_same_events_store_them_once(self, store: Store) -> None:
        outcomes: list[Outcome] = []

        def send() -> None:
            for number in range(50):
                batch: list[Event] = [make_ranking(number), make_label(number, number)]
                outcomes.extend(store.append("music", batch))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counted = Counter(outcome.status for outcome in outcomes)
        assert counted == {"accepted": 100, "duplicate": 300}
        assert {outcome.seq for outcome in outcomes} == set(range(1, 101))
        assert len(read_back(store, "music")) == 50

    def test_other_work_is_done_in_a_transaction_of_the_writer(self, store: Store) -> None:
        store.transact(partial(count_seen, count=3)).result()
        assert store.counters("music") == {"seen": 3}

    def test_a_closed_store_accepts_nothing(self, opened: Open) -> None:
        with opened() as store:
            waiting = store.submit("music", [make_ranking(1)])
        assert waiting.result()[0].status == "accepted"
        with refuses(FileError, "store_closed"):
            store.append("music", [make_ranking(2)])
        store.close()
