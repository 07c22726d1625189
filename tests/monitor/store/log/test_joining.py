"""Small blocks of an hour are joined: it has few blocks, and each event is written rarely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.log import writer
from rankscope.monitor.store.log.blocks import list_blocks
from rankscope.monitor.store.log.writer import ALIKE, SIZES
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back

SMALL, LARGE = SIZES


def append(store: SQLiteStore, sizes: Sequence[int]) -> None:
    """Append batches of rankings of some sizes."""
    number = store.last_seq
    for size in sizes:
        store.append("music", [make_ranking(at) for at in range(number, number + size)])
        number += size


def sizes_of(store: SQLiteStore) -> list[int]:
    """The numbers of events of all blocks, in order."""
    return [block.events for block in store.query(lambda one: list_blocks(one, "music"))]


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([1] * (ALIKE - 1), [1] * (ALIKE - 1)),
        ([1] * ALIKE, [ALIKE]),
        ([1] * (ALIKE + 1), [ALIKE, 1]),
        # The largest that are small, and the smallest that are not.
        ([SMALL - 1] * ALIKE, [ALIKE * (SMALL - 1)]),
        ([SMALL] * (ALIKE - 1), [SMALL] * (ALIKE - 1)),
        ([SMALL] * ALIKE, [SMALL * ALIKE]),
        # Those that became larger by being joined wait for as many of their size.
        ([1] * (ALIKE * 3), [ALIKE] * 3),
        ([100] * 5 + [1] * ALIKE, [100] * 5 + [ALIKE]),
        ([1] * (ALIKE * ALIKE), [ALIKE * ALIKE]),
    ],
)
def test_so_many_blocks_of_one_size_become_one(
    store: SQLiteStore, batches: list[int], expected: list[int]
) -> None:
    append(store, batches)
    assert sizes_of(store) == expected
    assert len(read_back(store, "music", 1000)) == sum(batches)
    store.verify()


@pytest.mark.parametrize(("size", "is_joined"), [(999, True), (1000, False)])
def test_large_blocks_are_left_alone(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, size: int, *, is_joined: bool
) -> None:
    assert LARGE == 1000
    monkeypatch.setattr(writer, "ALIKE", 2)
    append(store, [size, size])
    assert sizes_of(store) == ([2 * size] if is_joined else [size, size])


def test_blocks_of_other_hours_environments_kinds_and_projects_are_not_joined(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "ALIKE", 2)
    ranking = make_ranking(0)
    store.append("films", [ranking])
    store.append("music", [ranking])
    store.append("music", [replace(make_ranking(1), time=HOUR)])
    store.append("music", [replace(make_ranking(2), environment="validation")])
    store.append("music", [make_label(0, 0)])
    assert sizes_of(store) == [1] * 4
    store.append("music", [make_label(1, 0)])
    assert Counter(sizes_of(store)) == {1: 3, 2: 1}
    store.verify()


def test_an_event_is_written_a_few_times(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    write = writer.write_columns

    def note(*given: object) -> None:
        nonlocal written
        written += len(given[2])  # type: ignore[arg-type]
        write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "write_columns", note)
    count = 2 * ALIKE * ALIKE
    append(store, [1] * count)
    # Once alone, once with 15 others, and once with all of 16 such blocks.
    assert written <= count * 3 + ALIKE * ALIKE
