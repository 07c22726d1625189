from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import _core
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.log import spans, writer
from rankscope.monitor.store.log.blocks import RANKINGS, Block, list_blocks
from rankscope.monitor.store.log.spans import AT_ONCE, PARTS, divide
from rankscope.monitor.store.log.tally import DELETED, Tally, read_tally
from rankscope.monitor.store.log.writer import ALIKE, SIZES
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.generated import examples
from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back, texts_of


def block_of(first, last, rankings):
    return Block(0, 1, 0, RANKINGS, 0, 0, first, last, rankings, 0, "[]", 0, b"")


@examples(40)
@given(
    st.lists(
        st.builds(
            lambda first, length, rankings: block_of(first, first + length, rankings),
            st.integers(-(2**50), 2**50) | st.integers(0, 5),
            st.integers(0, 2**40) | st.integers(0, 3),
            st.integers(1, 3 * AT_ONCE),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_spans_cover_all_blocks_once_in_order(blocks):
    spans = list(divide(blocks))
    assert spans[0][0] == min(block.first for block in blocks)
    assert spans[-1][1] == max(block.last for block in blocks) + 1
    assert all(start < end for start, end in spans)
    assert all(one[1] == other[0] for one, other in pairwise(spans))


def test_spans_have_about_as_many_rankings_as_are_sorted_at_once():
    assert list(divide([])) == []
    half = AT_ONCE // 2
    assert list(divide([block_of(3, 5, half), block_of(4, 9, half)])) == [(3, 10)]
    assert len(list(divide([block_of(0, 5, half), block_of(4, 9, half + 1)]))) > 1
    # Evenly spread over as many microseconds as there are parts, so that edges are whole numbers.
    assert list(divide([block_of(0, PARTS - 1, 4 * AT_ONCE)])) == [
        (at * PARTS // 4, (at + 1) * PARTS // 4) for at in range(4)
    ]
    assert list(divide([block_of(7, 7, 5 * AT_ONCE)])) == [(7, 8)]


# "x" is the id of a label of "r" and of a ranking whose event is "e".
SHOWN = Ranking("r", "r", 5, Items(("a",), (1,)))
TOLD = Label("x", "r", "a", 6, ("click",))
NAMED = Ranking("e", "x", 7, Items(("b",), (1,)))
CLICK = Label("c", "x", "b", 8, ("click",))


@pytest.fixture(params=["label first", "ranking first"])
def ambiguous(tmp_path, request):
    first = [SHOWN, TOLD], [NAMED]
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        for events in first if request.param == "label first" else first[::-1]:
            opened.append("music", events)
        yield opened


def statuses(store, *events):
    return [outcome.status for outcome in store.append("music", events)]


def test_both_are_known_in_their_roles(ambiguous):
    assert statuses(ambiguous, TOLD, NAMED, CLICK) == ["duplicate", "duplicate", "accepted"]
    assert statuses(ambiguous, replace(TOLD, time=7), replace(NAMED, time=6)) == ["conflict"] * 2
    assert statuses(ambiguous, replace(NAMED, event_id="other")) == ["duplicate"]
    assert ambiguous.find_ranking("music", "x") == NAMED
    assert ambiguous.find_labels("music", "x") == [CLICK]
    assert ambiguous.find_labels("music", "r") == [TOLD]
    ambiguous.verify()


@pytest.mark.parametrize("gone", ["r", "x"])
def test_one_is_still_known_when_the_other_is_deleted(ambiguous, gone):
    deleted = ambiguous.erase("music", Chosen(ranking_ids=(gone,)))
    ambiguous.verify()
    if gone == "r":
        assert deleted == Deleted(1, 1)
        assert ambiguous.find_ranking("music", "x") == NAMED
        assert statuses(ambiguous, NAMED, CLICK, SHOWN, TOLD) == [
            "duplicate", "accepted", "accepted", "accepted"
        ]  # fmt: skip
        assert ambiguous.count_pending("music") == 0
    else:
        assert deleted == Deleted(1, 0)
        assert ambiguous.find_labels("music", "r") == [TOLD]
        assert statuses(ambiguous, TOLD, NAMED) == ["duplicate", "accepted"]
    ambiguous.verify()


def test_projects_know_each_their_own_ids(tmp_path):
    assert _core.hash_ids(1, ["r"]) != _core.hash_ids(2, ["r"])
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as ambiguous:
        ambiguous.append("music", [SHOWN])
        assert ambiguous.append("films", [SHOWN])[0].status == "accepted"
        ambiguous.delete_before("films", DAY)
        assert ambiguous.append("music", [SHOWN])[0].status == "duplicate"
        ambiguous.verify()


SMALL, LARGE = SIZES


def append(store, sizes):
    number = store.last_seq
    for size in sizes:
        store.append("music", [make_ranking(at) for at in range(number, number + size)])
        number += size


def sizes_of(store):
    return [block.events for block in store.query(lambda one: list_blocks(one, "music"))]


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([1] * (ALIKE - 1), [1] * (ALIKE - 1)),
        ([1] * ALIKE, [ALIKE]),
        ([1] * (ALIKE + 1), [ALIKE, 1]),
        # The largest that are small, and the smallest that are not.
        ([SMALL - 1] * ALIKE, [ALIKE * (SMALL - 1)]),
        ([SMALL] * (ALIKE - 1), [SMALL] * (ALIKE - 1)),
        ([SMALL] * ALIKE, [SMALL * ALIKE]),
        # Those that became larger by being joined wait for as many of their size.
        ([1] * (ALIKE * 3), [ALIKE] * 3),
        ([100] * 5 + [1] * ALIKE, [100] * 5 + [ALIKE]),
        ([1] * (ALIKE * ALIKE), [ALIKE * ALIKE]),
    ],
)
def test_so_many_blocks_of_one_size_become_one(store, batches, expected):
    append(store, batches)
    assert sizes_of(store) == expected
    assert len(read_back(store, "music", 1000)) == sum(batches)
    store.verify()


@pytest.mark.parametrize(("size", "is_joined"), [(999, True), (1000, False)])
def test_large_blocks_are_left_alone(store, monkeypatch, size, *, is_joined):
    assert LARGE == 1000
    monkeypatch.setattr(writer, "ALIKE", 2)
    append(store, [size, size])
    assert sizes_of(store) == ([2 * size] if is_joined else [size, size])


def test_blocks_of_other_hours_environments_kinds_and_projects_are_not_joined(store, monkeypatch):
    monkeypatch.setattr(writer, "ALIKE", 2)
    ranking = make_ranking(0)
    store.append("films", [ranking])
    store.append("music", [ranking])
    store.append("music", [replace(make_ranking(1), time=HOUR)])
    store.append("music", [replace(make_ranking(2), environment="validation")])
    store.append("music", [make_label(0, 0)])
    assert sizes_of(store) == [1] * 4
    store.append("music", [make_label(1, 0)])
    assert Counter(sizes_of(store)) == {1: 3, 2: 1}
    store.verify()


def test_an_event_is_written_a_few_times(store, monkeypatch):
    written = 0
    write = writer.write_columns

    def note(*given):
        nonlocal written
        written += len(given[2])
        write(*given)

    monkeypatch.setattr(writer, "write_columns", note)
    count = 2 * ALIKE * ALIKE
    append(store, [1] * count)
    # Once alone, once with 15 others, and once with all of 16 such blocks.
    assert written <= count * 3 + ALIKE * ALIKE


TIMES = st.integers(0, 3) | st.integers(HOUR - 2, HOUR + 2) | st.integers(2 * HOUR, 2 * HOUR + 9)


def read_model(rankings, labels, since, until):
    shown = [one for one in rankings if since <= one.time < until]
    return [
        (
            ranking.ranking_id,
            [
                label.event_id
                for label in sorted(labels, key=lambda one: (one.time, one.event_id))
                if label.ranking_id == ranking.ranking_id
            ],
        )
        for ranking in sorted(shown, key=lambda one: (one.time, one.ranking_id))
    ]


def read_store(store, since, until):
    found = []
    for chunk in store.read("music", since, until, 3, event_ids=True):
        labels = chunk.labels
        assert labels.event_ids is not None
        told = list(zip(labels.rankings.tolist(), texts_of(labels.event_ids), strict=True))
        for place, name in enumerate(texts_of(chunk.ranking_ids)):
            found.append((name, [label for at, label in told if at == place]))
    return found


@examples(8)
@given(
    st.lists(st.lists(TIMES, min_size=1, max_size=5), min_size=1, max_size=5),
    st.lists(st.integers(0, 24), max_size=9),
    st.tuples(TIMES, TIMES),
    st.sampled_from([1, 2, 5, 100]),
)
def test_spans_are_those_of_a_plain_model(tmp_path_factory, batches, told, span, at_once):
    path = tmp_path_factory.mktemp("overlaps") / "events.db"
    rankings = []
    labels = []
    with (
        mock.patch.object(spans, "AT_ONCE", at_once),
        mock.patch.object(writer, "ALIKE", 3),
        SQLiteStore(path, group_seconds=0) as store,
    ):
        for number, times in enumerate(batches):
            some = [
                replace(make_ranking(len(rankings) + at), time=time)
                for at, time in enumerate(times)
            ]
            rankings += some
            more = [
                make_label(len(labels) + at, ranking)
                for at, ranking in enumerate(told[2 * number : 2 * number + 2])
            ]
            labels += more
            store.append("music", [*some, *more])
        for since, until in (sorted(span), (0, DAY)):
            assert read_store(store, since, until) == read_model(rankings, labels, since, until)


COUNT = 40
SECRET = "zQ7-the-user-who-left-4rT"  # noqa: S105 - a name to search for
"""In the ids of a user, of rankings, documents and labels."""


def show(number, name):
    items = Items((f"{name}-doc-{number}", "other"), (1, 2))
    ranking_id = f"{name}-{number}"
    return Ranking(ranking_id, ranking_id, number, items, f"{name} asks", name)


def find_secret(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if SECRET.encode() in path.read_bytes()}


def test_what_belongs_to_a_user_is_in_no_file_once_it_is_deleted(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        for number in range(COUNT):
            name = SECRET if number % 8 == 0 else f"user-{number}"
            label = Label(f"{name}-label-{number}", f"{name}-{number}", "other", number, ("click",))
            # One after the other, so that small blocks are joined and leave pages behind.
            store.append("music", [show(number, name), label])
        assert find_secret(tmp_path)
        assert store.erase("music", Chosen(user_id=SECRET)).rankings == COUNT / 8
        assert find_secret(tmp_path) == set()
        store.verify()


def test_a_digest_of_the_ids_of_deleted_events_is_kept(tmp_path):
    digests = []
    for name, order in (("a.db", 1), ("b.db", -1)):
        with SQLiteStore(tmp_path / name) as store:
            rankings = [show(number, f"user-{number}") for number in range(4)]
            label = Label("label", "user-1-1", "other", 2, ("click",))
            store.append("music", [*rankings, label])
            assert store.query(lambda opened: read_tally(opened, DELETED)) == Tally(0, 0)
            for number in (1, 2)[::order]:
                store.erase("music", Chosen(user_id=f"user-{number}"))
            digests.append(store.query(lambda opened: read_tally(opened, DELETED)))
    assert digests[0] == digests[1]
    assert digests[0].blocks == 3  # two rankings and a label
