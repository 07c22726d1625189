"""Events are stored in the same way whether they come together or one by one."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.intake import ingestion
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance.samples import read_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.outcome import Outcome


def make_batches(seed: int) -> list[list[Event]]:
    """Make batches with duplicates, conflicts, and labels before and after their rankings."""
    chance = random.Random(seed)
    batches: list[list[Event]] = []
    for _ in range(40):
        batch: list[Event] = []
        # Few ids, so that some are sent again; many, so that most batches have none of these.
        most = chance.choice((5, 100_000))
        for _ in range(chance.choice((0, 1, 7))):
            number, time = chance.randrange(most), chance.randrange(3)
            name = f"r{chance.randrange(most)}"
            batch.append(
                Label(f"l{number}", name, "ä", time, ("click",))
                if chance.random() < 0.5
                else Ranking(
                    chance.choice((f"e{number}", name)),
                    name,
                    time,
                    Items(("ä", "b"), (1, 2)),
                    version=str(chance.randrange(2)),
                )
            )
        batches.append(batch)
    return batches


def store_all(path: Path, batches: Sequence[Sequence[Event]]) -> tuple[list[Outcome], list[Any]]:
    """Store batches, and return the outcomes of all events, and what the store has."""
    with SQLiteStore(path, group_seconds=0) as store:
        outcomes = [outcome for batch in batches for outcome in store.append("music", batch)]
        store.verify()
        found = [
            read_back(store, "music"),
            [store.find_labels("music", event.ranking_id) for batch in batches for event in batch],
            store.count_pending("music"),
            store.counters("music"),
            store.versions("music"),
        ]
    return outcomes, found


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_stored_as_its_events_one_by_one(tmp_path: Path, seed: int) -> None:
    batches = make_batches(seed)
    one_by_one = [[event] for batch in batches for event in batch]
    found = store_all(tmp_path / "batches.db", batches)
    assert found == store_all(tmp_path / "events.db", one_by_one)
    assert {outcome.status for outcome in found[0]} == {"accepted", "duplicate", "conflict"}


def test_batches_that_are_stored_together_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.monitor.intake.files.AT_ONCE", 7)
    lines = [
        {"ranking_id": f"r{number % 50}", "time": number % 100, "doc_ids": ["a"], "size": 1}
        for number in range(100)
    ]
    lines[33] = {"time": 0}
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def ingest(most: int) -> object:
        monkeypatch.setattr(ingestion, "MOST_EVENTS", most)
        with SQLiteStore(tmp_path / f"{most}.db", group_seconds=0) as store:
            made = Ingestion(StoreSink(store, "music"), "rankings", now=lambda: 0)
            made.take(str(log))
        return made.ingested

    assert ingest(1) == ingest(30) == ingest(20_000)
