"""What every store guarantees for what is deleted, and for its list of blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from rankscope.errors import FileError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.log.blocks import RANKINGS as RANKINGS_KIND
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.store import Store
from rankscope.monitor.store.tables.schema import blocks
from rankscope.monitor.store.transaction import Transaction
from sqlalchemy import delete, update

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.refusals import refuses

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
    """Remove the row of a block of rankings of the second hour, or change it."""
    chosen = (blocks.c.start == HOUR) & (blocks.c.kind == RANKINGS_KIND)
    if harm == "lost":
        transaction.connection.execute(delete(blocks).where(chosen))
        return
    column = blocks.c.contexts if harm == "changed" else blocks.c.last_seq
    other = column + (" " if harm == "changed" else 1)
    transaction.connection.execute(update(blocks).where(chosen).values({column.name: other}))


class DeletionConformance:
    """Tests of deletion, and of blocks that are lost or changed."""

    def test_deletion_reaches_all_labels(self, store: Store) -> None:
        store.append("music", [*RANKINGS, *LABELS])
        assert store.erase("music", Chosen(user_id="odd")) == Deleted(30, 4)
        assert store.delete_before("music", HOUR + HOUR // 2) == Deleted(15, 5)
        left = read_back(store, "music")
        assert left.keys() == {f"ranking-{number}" for number in range(30, COUNT, 2)}
        store.verify()
        assert [one.status for one in store.append("music", RANKINGS[:2])] == ["accepted"] * 2

    @pytest.mark.parametrize("harm", ["lost", "changed", "changed number"])
    def test_a_lost_or_changed_row_of_a_block_is_noticed(self, store: Store, harm: str) -> None:
        store.append("music", [*RANKINGS, *LABELS])
        store.erase("music", Chosen(user_id="odd"))
        store.delete_before("music", HOUR)
        # Two of three hours are left, and both were written again.
        store.verify()
        store.transact(partial(damage_log, harm=harm)).result()
        with refuses(FileError, "store_damaged") as noticed:
            store.query(check_tally)
        assert ("1 blocks instead of 2" in str(noticed.value)) == (harm == "lost")
        with pytest.raises(FileError):
            store.verify()
