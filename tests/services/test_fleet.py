"""The fleet in PostgreSQL: two services send a digest once, and rows are those of SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope import FileError
from rankscope.monitor.fleet.digest import LATEST, DigestSchedule
from rankscope.monitor.fleet.rows import read_fleet
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.weekly import read_weekly
from rankscope.monitor.store import open_store
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.fleet import copy_project, evaluate, log_days, make_fall, put_incidents
from tests.monitor.server.service import NOW
from tests.services.postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.store.store import Store

CHANNEL = Channel(
    name="team", url=Secret("json://localhost"), weekly=read_weekly("saturday 17:30 Europe/Berlin")
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as started:
        yield started


def fill(store: Store) -> None:
    assert store.take_evaluation()
    log_days(store, "music", days=9, values=2)
    evaluate(store, "music")
    copy_project(store, "music", "films", owner="shop")
    put_incidents(store, "films", make_fall(1, 0.25))


def count_weeks(store: Store) -> int:
    rows = [row for name in store.projects() for row in store.list_notifications(name, 1000)]
    return sum("fleet.week" in row.body for row in rows)


@pytest.mark.slow
def test_the_digest_is_sent_once_also_after_another_service_has_taken_over(
    cluster: Cluster,
) -> None:
    channels, url = Channels(channels=(CHANNEL,)), cluster.url()
    first, second = open_store(url), open_store(url)
    with second:
        with first:
            fill(first)
            schedule = DigestSchedule(first, channels, lambda: NOW)
            schedule.step()
            schedule.step()
            assert count_weeks(first) == 1
            # Who doesn't evaluate sends nothing, also where it believes to.
            with pytest.raises(FileError) as refused:
                DigestSchedule(second, channels, lambda: NOW).step()
            assert refused.value.code == "store_evaluated"
        assert second.take_evaluation()
        due, _ = read_weekly("saturday 17:30 Europe/Berlin").find_last(NOW)
        for moment in (NOW, due + LATEST - 1):
            DigestSchedule(second, channels, lambda moment=moment: moment).step()
        assert count_weeks(second) == 1


@pytest.mark.slow
def test_rows_are_the_same_whatever_the_database(cluster: Cluster, tmp_path: Path) -> None:
    with open_store(cluster.url()) as one, SQLiteStore(tmp_path / "a.db") as other:
        for store in (one, other):
            fill(store)
        rows = [read_fleet(store, store.projects(), NOW) for store in (one, other)]
        assert [str(row) for row in rows[0]] == [str(row) for row in rows[1]]
        assert rows[0][0].loss == 0.25 * rows[0][0].traffic > 0
