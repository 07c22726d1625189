"""Files that are written without a service have the values of the rankings in memory."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="the files are those of a store")

from rankscope.monitor.evaluate.days import sum_day
from rankscope.monitor.evaluate.refresh import find_slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.log.reading import CHUNK

from dev.load.columns import DIFFERENT, MemorySource, make_chunk
from dev.load.configuration import CONFIGURATION, PROJECT
from dev.load.history import STORE, fill
from dev.load.searches import BATCH, START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

HOURLY = CHUNK
DAILY = 24 * HOURLY


def test_history_files_have_the_values_of_rankings_in_memory(tmp_path: Path) -> None:
    rankings = 3 * HOURLY
    assert fill(tmp_path, rankings, DAILY) > 0
    source = MemorySource(DAILY, [make_chunk(at * CHUNK // BATCH) for at in range(DIFFERENT)])
    with Monitor.open(f"sqlite:///{tmp_path / STORE}", PROJECT, threads=1) as monitor:
        monitor.configure(CONFIGURATION)
        assert monitor.evaluate().rankings == rankings
        found = monitor.store.cells(PROJECT, CONFIGURATION.digest)
        expected = sum_day(
            source,  # type: ignore[arg-type]  # all of a store that it reads
            [START, START + HOUR, START + 2 * HOUR],
            project=PROJECT,
            configuration=CONFIGURATION,
            slicing=find_slicing(monitor.store, PROJECT, CONFIGURATION),
            now=START + 9 * DAY,
            threads=1,
        )
    assert len(found) == 3 * (1 + 5 + 4 + 5 * 4)
    assert sorted(found) == sorted(one for one in expected.cells if one.length == HOUR)
