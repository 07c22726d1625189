"""A batch of new events is stored as one that is looked up first."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.intake import ingestion
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables import events as stored_events

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.outcome import Outcome

TABLES = ("events", "rankings", "labels", "counters")


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


def store_all(
    path: Path, batches: Sequence[Sequence[Event]]
) -> tuple[list[list[Outcome]], dict[str, Any]]:
    """Store batches, and return the outcomes and what the tables hold."""
    with SQLiteStore(path, group_seconds=0) as store:
        outcomes = [store.append("music", batch) for batch in batches]
        store.verify()
        with store.engine.connect() as connection:
            found: dict[str, Any] = {
                table: connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1, 2").all()  # noqa: S608 - names of tables
                for table in TABLES
            }
            found["waiting"] = connection.exec_driver_sql("SELECT pending FROM projects").all()
    return outcomes, found


@pytest.mark.parametrize("seed", range(4))
def test_new_events_are_stored_as_events_that_are_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    batches = make_batches(seed)
    found = store_all(tmp_path / "new.db", batches)
    monkeypatch.setattr(stored_events, "_store_new", lambda *_given: None)
    assert found == store_all(tmp_path / "asked.db", batches)


def test_what_is_held_together_is_told_apart(
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

    def ingest(held: int) -> object:
        monkeypatch.setattr(ingestion, "HELD", held)
        with SQLiteStore(tmp_path / f"{held}.db", group_seconds=0) as store:
            made = Ingestion(StoreSink(store, "music"), "rankings", now=lambda: 0)
            made.take(str(log))
        return made.ingested

    assert ingest(1) == ingest(30) == ingest(20_000)
