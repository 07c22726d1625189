from __future__ import annotations

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.evaluate.stored_windows import AGES
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, DataReader, Segment

from tests.monitor.rules.world import PROJECT, START, make_day, make_scene, show

CONFIGURATION = Configuration(
    definition=define(measures=["RR@3"], positive={"click": 1, "buy": 5}, window=3600),
    attributes=("device",),
)
SLICING = Slicing((("device", ("phone", "tv")),), (), (("device", 0),))


def open_reader(store):
    return DataReader(make_scene(store, configuration=CONFIGURATION, slicing=SLICING))


def test_four_weeks_are_counted_by_one_read(store, monkeypatch):
    store.append(PROJECT, [*make_day(0, users=30), *make_day(27, users=20)])
    refresh(store, PROJECT, CONFIGURATION, now=START + 30 * DAY, threads=1)
    asked = []
    read = store.cells
    monkeypatch.setattr(
        store, "cells", lambda *args, **named: asked.append(args[2:]) or read(*args, **named)
    )
    reader = open_reader(store)
    counts = reader.read(START, START + 28 * DAY)
    assert asked == [(START, START + 28 * DAY)]
    assert counts[TOTAL].reshape(28, 24).sum(axis=1).tolist() == [30, *[0] * 26, 20]
    # The hour after midnight reads one more day.
    reader.read(START + DAY, START + 28 * DAY + HOUR)
    assert asked[1:] == [(START + 28 * DAY, START + 29 * DAY)]


def test_counts_are_those_of_the_events_and_of_some_slices_those_among_all(store):
    store.append(
        PROJECT,
        [
            *make_day(0, users=30),
            *make_day(0, users=10, device="tv", version="2"),
            *show("no device", START + 5 * HOUR, 0),
        ],
    )
    before = open_reader(store).read_day(START)
    refresh(store, PROJECT, CONFIGURATION, now=START + 3 * DAY, threads=1)
    after = open_reader(store).read_day(START)
    assert before == after
    # One ranking a minute, from midnight on, and one at five; those of the validation set are none.
    counts = {segment: sum(hours) for segment, hours in after.rankings.items()}
    assert counts == {
        TOTAL: 41,
        Segment("m"): 41,
        Segment("m", "1"): 31,
        Segment("m", "2"): 10,
        Segment(slice=(("device", "phone"),)): 30,
        Segment(slice=(("device", "tv"),)): 10,
        Segment(slice=(("device", "<missing>"),)): 1,
    }
    assert after.rankings[TOTAL][0] == 40
    assert after.rankings[TOTAL][5] == 1
    assert (after.sizes, after.labelled, after.empty) == ({"m": 41}, {"m": 40}, {"m": 1})
    # A click comes at once.
    assert after.ages == [40] + [0] * len(AGES)
    store.append(PROJECT, make_day(0, users=3))
    refresh(store, PROJECT, CONFIGURATION, now=START + 3 * DAY, threads=1)
    digest = CONFIGURATION.digest
    wanted = ["[]", '[["device", "phone"]]']
    found = store.cells(PROJECT, digest, START, START + DAY, slices=wanted)
    everything = store.cells(PROJECT, digest, START, START + DAY)
    assert found == [cell for cell in everything if cell.slice in wanted]
    assert {cell.slice for cell in found} == set(wanted)


def test_labels_are_counted_by_model_and_kind_while_they_count(empty):
    empty.append(
        PROJECT,
        [
            *show("one", 0, 0),
            *show("two", 5, 0, model="n"),
            *show("three", DAY, 0),
            Label("1", "one", "a", 1, ("click",)),
            Label("2", "one", "b", 2, ("click",)),
            Label("3", "one", "b", HOUR - 1, ("click", "buy")),
            Label("late", "one", "b", HOUR, ("click",)),
            Label("taken back", "one", "a", 3, (), kind="retraction"),
            Label("4", "two", "a", 6, (), 3.0),
            Label("outside", "three", "a", DAY + 1, ("click",)),
            Ranking("test", "test", 3, Items(("a",), (1,)), environment="validation"),
            Label("test", "test", "a", 4, ("click",)),
        ],
    )
    before = open_reader(empty).count_labels(0)
    refresh(empty, PROJECT, CONFIGURATION, now=3 * DAY, threads=1)
    after = open_reader(empty).count_labels(0)
    assert before == after == {"m": {"click": 3, "buy": 1}, "n": {"grade": 1}}
    assert empty.has_labels(PROJECT, 0, 5, before=2)
    assert not empty.has_labels(PROJECT, 0, 5, before=1)
    assert not empty.has_labels(PROJECT, DAY - 9, DAY, before=2 * DAY)
