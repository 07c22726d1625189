from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.store.records import Deleted, Version
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.generated import examples
from tests.monitor.store.conformance.samples import read_back
from tests.monitor.store.logs import TIMES, events

PROJECT = "music"


class Model(RuleBasedStateMachine):
    @initialize()
    def start(self):
        self.folder = tempfile.TemporaryDirectory()
        self.known = {}
        self.counts = Counter()
        self.store = self.open()

    def open(self):
        return SQLiteStore(Path(self.folder.name) / "events.db", group_seconds=0)

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    def expect(self, event):
        before = self.known.get(event.event_id)
        if before is None and isinstance(event, Ranking):
            same = [one for one in self.rankings() if one.ranking_id == event.ranking_id]
            before = same[0] if same else None
        if before is None:
            self.known[event.event_id] = event
            return "accepted"
        return "duplicate" if replace(event, event_id=before.event_id) == before else "conflict"

    def rankings(self):
        return [event for event in self.known.values() if isinstance(event, Ranking)]

    def labels(self, ranking_id):
        told = [event for event in self.known.values() if isinstance(event, Label)]
        theirs = [label for label in told if label.ranking_id == ranking_id]
        return sorted(theirs, key=lambda label: (label.time, label.event_id))

    @rule(batch=st.lists(events, min_size=1, max_size=8))
    def send(self, batch):
        expected = [self.expect(event) for event in batch]
        outcomes = self.store.append(PROJECT, batch)
        assert [outcome.status for outcome in outcomes] == expected
        self.counts.update(expected)

    @rule(data=st.data())
    def send_again(self, data):
        if self.known:
            batch = data.draw(st.lists(st.sampled_from(list(self.known.values())), min_size=1))
            outcomes = self.store.append(PROJECT, batch)
            assert {outcome.status for outcome in outcomes} == {"duplicate"}
            self.counts["duplicate"] += len(batch)

    @rule()
    def open_again(self):
        seq = self.store.last_seq
        self.store.close()
        self.store = self.open()
        assert self.store.last_seq == seq

    @rule(time=TIMES)
    def delete(self, time):
        old = {one.ranking_id for one in self.rankings() if one.time < time}
        there = {one.ranking_id for one in self.rankings()}
        gone = [
            event
            for event in self.known.values()
            if event.ranking_id in old
            or (isinstance(event, Label) and event.time < time and event.ranking_id not in there)
        ]
        labels = sum(isinstance(event, Label) for event in gone)
        deleted = Deleted(len(gone) - labels, labels)
        assert self.store.delete_before(PROJECT, time) == deleted
        self.known = {name: event for name, event in self.known.items() if event not in gone}
        self.counts["deleted_rankings"] += deleted.rankings
        self.counts["deleted_labels"] += deleted.labels

    def versions(self):
        times = {}
        for one in self.rankings():
            key = one.model, one.version, one.environment
            times.setdefault(key, []).append(one.time)
        found = [Version(*key, min(at), max(at), len(at)) for key, at in times.items()]
        return sorted(found, key=lambda one: (one.model, one.first, one.version, one.environment))

    @invariant()
    def holds_what_it_should(self):
        if not hasattr(self, "store"):
            return
        assert Counter(self.store.counters(PROJECT)) == self.counts
        assert self.store.versions(PROJECT) == self.versions()
        assert read_back(self.store, PROJECT) == {
            ranking.ranking_id: [
                replace(event, event_id="") for event in (ranking, *self.labels(ranking.ranking_id))
            ]
            for ranking in self.rankings()
        }
        for ranking_id in "pqrs":
            same = [one for one in self.rankings() if one.ranking_id == ranking_id]
            found = self.store.find_ranking(PROJECT, ranking_id)
            assert found == (same[0] if same else None)
            assert self.store.find_labels(PROJECT, ranking_id) == self.labels(ranking_id)
        pending = set("pqrs") - {one.ranking_id for one in self.rankings()}
        counted = sum(len(self.labels(ranking_id)) for ranking_id in pending)
        assert self.store.count_pending(PROJECT) == counted


Model.TestCase.settings = examples(10, stateful_step_count=12)
TestModel = Model.TestCase
