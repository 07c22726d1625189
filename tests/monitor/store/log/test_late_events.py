"""Rankings and labels of an archived hour that come later are found before it is archived again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.log.blocks import FILE, LABELS, RANKINGS, list_blocks
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JUDGED = replace(make_ranking(9), environment="validation")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """A store with an archived hour, in which a validation set has a ranking, too."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        opened.append("music", [make_ranking(0), make_ranking(1), make_label(1, 1), JUDGED])
        opened.append("music", [make_label(9, 9)])
        opened.archive("music", DAY)
        yield opened


def kinds_of(store: SQLiteStore) -> list[tuple[int, int]]:
    """The kinds of all blocks, and the places of their environments."""
    found = store.query(lambda one: list_blocks(one, "music"))
    return sorted((block.kind, block.environment) for block in found)


def test_a_set_stays_out_of_the_file_of_its_hour(store: SQLiteStore) -> None:
    assert kinds_of(store) == [(RANKINGS, 1), (LABELS, 1), (FILE, 0)]
    assert read_back(store, "music").keys() == {"ranking-0", "ranking-1", "ranking-9"}
    assert store.find_labels("music", "ranking-9") == [make_label(9, 9)]
    store.verify()


@pytest.mark.parametrize(
    "chosen", [Chosen(ranking_ids=("ranking-9",)), Chosen(since=9, until=10), Chosen(since=9)]
)
def test_rankings_of_a_set_are_erased_in_an_archived_hour(
    store: SQLiteStore, chosen: Chosen
) -> None:
    assert store.erase("music", chosen) == Deleted(1, 1)
    assert kinds_of(store) == [(FILE, 0)]
    assert store.append("music", [JUDGED])[0].status == "accepted"
    store.verify()


def test_late_rankings_and_labels_are_read_before_and_after_archiving_again(
    store: SQLiteStore,
) -> None:
    late = replace(make_ranking(5), user_id="ann")
    store.append("music", [late, make_label(2, 0), make_label(3, 5), make_label(4, 1)])
    store.append("music", [make_label(5, 5)])
    before = read_back(store, "music")
    assert kinds_of(store) == [(RANKINGS, 0), (RANKINGS, 1), (LABELS, 0), (LABELS, 0),
                               (LABELS, 1), (FILE, 0)]  # fmt: skip
    for _ in range(2):
        assert read_back(store, "music") == before
        assert store.find_labels("music", "ranking-1") == [make_label(1, 1), make_label(4, 1)]
        assert store.find_labels("music", "ranking-5") == [make_label(3, 5), make_label(5, 5)]
        assert store.find_ranking("music", "ranking-5") == late
        assert store.count_by_hour("music", 0, HOUR) == [(0, 1, 3), (0, 2, 1)]
        store.verify()
        store.archive("music", DAY)
        assert kinds_of(store) == [(RANKINGS, 1), (LABELS, 1), (FILE, 0)]


@pytest.mark.parametrize("is_archived", [False, True])
def test_late_rankings_and_labels_are_erased_before_and_after_archiving_again(
    store: SQLiteStore, *, is_archived: bool
) -> None:
    store.append("music", [make_ranking(5), make_label(2, 0), make_label(3, 5)])
    if is_archived:
        store.archive("music", DAY)
    assert store.erase("music", Chosen(ranking_ids=("ranking-5", "ranking-0"))) == Deleted(2, 2)
    assert read_back(store, "music").keys() == {"ranking-1", "ranking-9"}
    store.verify()
