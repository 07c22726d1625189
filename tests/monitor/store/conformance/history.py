"""What every store guarantees for hours that were archived."""

from __future__ import annotations

from functools import partial

import pytest
from rankscope.errors import FileError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.records import Archived, Chosen, Deleted
from rankscope.monitor.store.tables.schema import blocks, values_files
from rankscope.records import replace
from sqlalchemy import delete, select, update

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.store import Store
    from rankscope.monitor.store.transaction import Transaction

    from tests.monitor.store.conformance.events import Open

COUNT = 60
RANKINGS = [
    replace(
        make_ranking(number), time=number * HOUR // 20, user_id="even" if number % 2 == 0 else "odd"
    )
    for number in range(COUNT)
]
"""Twenty rankings in each of three hours."""
LABELS = [
    replace(make_label(number, number), time=RANKINGS[number].time + 1) for number in range(9)
]


def damage_log(transaction: Transaction, *, harm: str) -> None:
    """Remove the row of the file of the second hour, or change it."""
    chosen = (blocks.c.start == HOUR) & (blocks.c.path != "")
    if harm == "lost":
        wanted = select(blocks.c.block_id).where(chosen)
        theirs = values_files.c.block_id.in_(wanted)
        transaction.connection.execute(delete(values_files).where(theirs))
        transaction.connection.execute(delete(blocks).where(chosen))
        return
    column = blocks.c.path if harm == "changed" else blocks.c.last_seq
    other = column + ("x" if harm == "changed" else 1)
    transaction.connection.execute(update(blocks).where(chosen).values({column.name: other}))


class HistoryConformance:
    """Tests of archived hours: no answer depends on where an event is."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        """An empty place for history files; backends can name another one."""
        return str(tmp_path / "history")

    def test_archived_events_come_back_and_are_known(self, opened: Open, place: str) -> None:
        with opened() as store:
            store.append("music", [*RANKINGS, *LABELS])
            before, counted = read_back(store, "music"), store.versions("music")
            store.set_history(place)
            done = store.archive("music", 2 * HOUR)
            assert (done.hours, done.rankings, done.labels) == (2, 40, len(LABELS))
            assert store.archive("music", 2 * HOUR) == Archived(0, 0, 0, 0)
        with opened() as store:
            assert read_back(store, "music") == before
            assert store.versions("music") == counted
            assert store.find_ranking("music", "ranking-3") == RANKINGS[3]
            assert store.find_labels("music", "ranking-3") == [LABELS[3]]
            events: list[Event] = [*RANKINGS, *LABELS]
            assert {one.status for one in store.append("music", events)} == {"duplicate"}
            changed = replace(RANKINGS[3], query_key="another")
            assert [one.status for one in store.append("music", [changed])] == ["conflict"]
            store.verify()

    def test_labels_of_archived_rankings_are_added(self, store: Store, place: str) -> None:
        store.set_history(place)
        store.append("music", RANKINGS)
        store.archive("music", DAY)
        store.append("music", LABELS)
        assert store.count_pending("music") == 0
        for _ in range(2):
            assert store.find_labels("music", "ranking-5") == [LABELS[5]]
            rows = read_back(store, "music")
            assert sum(len(events) - 1 for events in rows.values()) == len(LABELS)
            store.verify()
            store.archive("music", DAY)
        assert {one.status for one in store.append("music", LABELS)} == {"duplicate"}

    def test_deletion_reaches_archived_events(self, store: Store, place: str) -> None:
        store.set_history(place)
        store.append("music", [*RANKINGS, *LABELS])
        store.archive("music", 2 * HOUR)
        assert store.erase("music", Chosen(user_id="odd")) == Deleted(30, 4)
        assert store.delete_before("music", HOUR + HOUR // 2) == Deleted(15, 5)
        left = read_back(store, "music")
        assert left.keys() == {f"ranking-{number}" for number in range(30, COUNT, 2)}
        store.verify()
        assert [one.status for one in store.append("music", RANKINGS[:2])] == ["accepted"] * 2

    @pytest.mark.parametrize("harm", ["lost", "changed", "changed number"])
    def test_a_lost_or_changed_row_of_a_block_is_noticed(
        self, store: Store, place: str, harm: str
    ) -> None:
        store.set_history(place)
        store.append("music", [*RANKINGS, *LABELS])
        store.archive("music", 2 * HOUR)
        store.archive("music", 3 * HOUR)
        store.erase("music", Chosen(user_id="odd"))
        store.delete_before("music", HOUR)
        # Two of three hours are left, and both were written again.
        store.verify()
        store.transact(partial(damage_log, harm=harm)).result()
        with pytest.raises(FileError) as noticed:
            store.query(check_tally)
        assert noticed.value.code == "store_damaged"
        assert ("1 blocks instead of 2" in str(noticed.value)) == (harm == "lost")
        with pytest.raises(FileError):
            store.verify()

    def test_files_stay_in_the_place_that_was_set(self, opened: Open, place: str) -> None:
        with opened() as store:
            store.set_history(place)
            store.set_history(f"{place}/")
            with pytest.raises(UsageError) as refused:
                store.set_history(f"{place}/other")
            assert refused.value.code == "history_place"
        with opened() as store:
            with pytest.raises(UsageError):
                store.set_history(f"{place}/other")
            store.append("music", RANKINGS)
            assert store.archive("music", DAY).rankings == COUNT
            assert len(read_back(store, "music")) == COUNT

    def test_a_missing_file_is_named(self, store: Store, place: str) -> None:
        store.set_history(place)
        store.append("music", RANKINGS)
        store.archive("music", HOUR)
        kept = store.require_history()
        (path,) = kept.list_hour("music", 0)
        kept.remove(path)
        for ask in (
            lambda: list(store.read("music")),
            store.verify,
        ):
            with pytest.raises(FileError) as refused:
                ask()
            assert refused.value.code == "history_missing"
            assert kept.locate(path) in str(refused.value)
        later = replace(RANKINGS[-1], event_id="new", ranking_id="new")
        assert [one.status for one in store.append("music", [later])] == ["accepted"]
