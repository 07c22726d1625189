"""Whenever archiving or deletion is killed, every event is there once, or deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.testing.store.samples import read_back, texts_of

from tests.monitor.store.killed_archiver import BATCH, label_of, ranking_of, time_of

ROOT = Path(__file__).resolve().parents[3]
KILLER = Path(__file__).with_name("killed_archiver.py")


@pytest.mark.parametrize(
    ("rounds", "seed"),
    [
        (10, 5),
        pytest.param(
            200, 7, marks=pytest.mark.thorough(reason="200 processes take minutes to start")
        ),
    ],
)
def test_no_event_is_lost_or_there_twice_whenever_the_process_is_killed(
    tmp_path: Path, rounds: int, seed: int
) -> None:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(KILLER), str(tmp_path), str(rounds), str(seed)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    said: dict[str, list[int]] = {}
    for line in done.stdout.splitlines():
        word, number = line.split()
        said.setdefault(word, []).append(int(number))
    assert len(said["round"]) == rounds
    kept = set(said["acknowledged"])
    deleted, deleting = (max(said.get(word, [0])) for word in ("deleted", "deleting"))
    with SQLiteStore(tmp_path / "events.db") as store:
        store.verify()
        found = read_back(store, "music", 1000)
        ids = Counter(name for chunk in store.read("music") for name in texts_of(chunk.ranking_ids))
        assert set(ids.values()) == {1}
        for start in said["sent"]:
            for number in range(start, start + BATCH):
                name, time = f"ranking-{number}", time_of(number)
                if time < deleted:
                    assert name not in found
                elif start in kept and time >= deleting:
                    ranking, label = ranking_of(number), label_of(number, "click")
                    assert store.find_ranking("music", name) == ranking
                    assert label in store.find_labels("music", name)
        for number in said.get("acknowledged-late", []):
            if f"ranking-{number}" in found:
                late = label_of(number, "late")
                labels = store.find_labels("music", f"ranking-{number}")
                assert [label.event_id for label in labels].count(late.event_id) == 1
        # What is there is known, wherever it is.
        there = [ranking_of(int(name.removeprefix("ranking-"))) for name in found]
        again = store.append("music", there)
        assert {one.status for one in again} == {"duplicate"}
        assert read_back(store, "music", 1000) == found
