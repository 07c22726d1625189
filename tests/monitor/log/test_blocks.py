"""Blocks of rankings and labels are read as they were packed."""

from __future__ import annotations

import json
import math
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rankscope._core import (
    LabelBlock,
    RankingBlock,
    hash_ids,
    hash_other_ids,
    join_labels,
)
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.store.log.ids import RANKING, Entry, compute_checksum
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope._core import Column

ITEMS = (
    Items(("a", "bé"), (1, 2), (0.1, None), ()),
    Items((), (), (), ()),
    Items(("c", "a", ""), (3, 5, 9), (), (1.0, 0.0, None)),
    Items(("d",), (1,), (2.5,), (3.0,)),
)
RANKINGS = tuple(
    Ranking(event_id, ranking_id, time, items, query, user, "m", "1")
    for event_id, ranking_id, time, query, user, items in zip(
        ("r2", "own", "r0", "ü"),
        ("r2", "r1", "r0", "r3"),
        (7, 7, 9, -5),
        ("q", "", "q", "straße"),
        ("", "u1", "u2", ""),
        ITEMS,
        strict=True,
    )
)
LABELS = (
    Label("e3", "r1", "a", 12, ("click",)),
    Label("e2", "r1", "é", 11, ("buy", "click"), 0.1, "retraction"),
    Label("e1", "r9", "b", 10, ("click",), -1.0),
    Label("e0", "r0", "c", 10, (), math.inf, "correction"),
)
SHOWN = (7, 7, 8, 9)


def numbers(column: Column) -> list[Any]:
    values: list[Any] = np.frombuffer(memoryview(column), column.typecode).tolist()
    return values


def texts(columns: Sequence[Any]) -> list[str]:
    offsets, text = numbers(columns[0]), bytes(memoryview(columns[1]))
    return [text[start:end].decode() for start, end in pairwise(offsets)]


def none_for_nan(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def read_rankings(block: RankingBlock) -> list[tuple[Any, ...]]:
    columns = block.columns()
    assert len(columns) == 17
    bounds, (ranks, scores, grades) = numbers(columns[11]), map(numbers, columns[14:])
    lists = zip(
        texts(columns[12:14]), ranks, none_for_nan(scores), none_for_nan(grades), strict=True
    )
    items = list(lists)
    rows = zip(*(numbers(column) for column in columns[:3]), strict=True)
    ids = zip(*(texts(columns[place : place + 2]) for place in (3, 5, 7, 9)), strict=True)
    return [
        (*row, *names, items[start:end])
        for row, names, (start, end) in zip(rows, ids, pairwise(bounds), strict=True)
    ]


def read_labels(block: LabelBlock) -> list[tuple[Any, ...]]:
    columns = block.columns()
    assert len(columns) == 13
    names, codes = columns[10], numbers(columns[11])
    assert names == tuple(dict.fromkeys(names[code] for code in codes))
    return list(
        zip(
            *(numbers(column) for column in columns[:4]),
            *(texts(columns[place : place + 2]) for place in (4, 6, 8)),
            [names[code] for code in codes],
            none_for_nan(numbers(columns[12])),
            strict=True,
        )
    )


def expected_rankings() -> list[tuple[Any, ...]]:
    def column(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
        return values or (None,) * count

    rows = [
        (
            *(seq, ranking.time, 10 * seq, ranking.ranking_id, ranking.event_id),
            *(ranking.query_key, ranking.user_id),
            list(
                zip(
                    items.doc_ids,
                    items.ranks,
                    column(items.scores, len(items)),
                    column(items.relevance, len(items)),
                    strict=True,
                )
            ),
        )
        for seq, ranking, items in zip(range(4), RANKINGS, ITEMS, strict=True)
    ]
    return sorted(rows, key=lambda row: (row[1], row[3]))


def expected_labels() -> list[tuple[Any, ...]]:
    rows = [
        (
            *(seq, shown, label.time, LABEL_KINDS.index(label.kind)),
            *(label.ranking_id, label.event_id, label.doc_id),
            *(json.dumps(label.labels, separators=(",", ":")), label.value),
        )
        for seq, shown, label in zip(range(4), SHOWN, LABELS, strict=True)
    ]
    return sorted(rows, key=lambda row: (row[1], row[4], row[2], row[5]))


def pack_rankings(rows: Sequence[int] = range(4)) -> RankingBlock:
    def pack(row: int) -> RankingBlock:
        ids = pack_events([RANKINGS[row]]).hash_ids(5)
        ((_, _, block),) = ids.settle([], row).rankings([10 * row])
        return block

    return RankingBlock.join([pack(row) for row in rows])


def pack_labels(rows: Sequence[int] = range(4)) -> LabelBlock:
    def pack(row: int) -> LabelBlock:
        (key,) = hash_ids(5, [LABELS[row].ranking_id])
        shown = Entry(9, 9, SHOWN[row], RANKING)
        known = [(*key, *shown, compute_checksum(key, shown))]
        settled = pack_events([LABELS[row]]).hash_ids(5).settle(known, row)
        ((_, _, block),) = settled.labels([])[0]
        return block

    return LabelBlock.join([pack(row) for row in rows])


def test_rankings_are_decoded_as_they_were_packed_in_the_order_of_times_and_ids() -> None:
    block = pack_rankings()
    assert len(block) == len(RANKINGS)
    assert read_rankings(block) == expected_rankings()
    assert read_rankings(RankingBlock.decode(block.encode())) == expected_rankings()


def test_labels_are_decoded_as_they_were_packed_in_the_order_of_rankings() -> None:
    block = pack_labels()
    assert len(block) == len(LABELS)
    assert read_labels(block) == expected_labels()
    assert read_labels(LabelBlock.decode(block.encode())) == expected_labels()


def test_rows_are_taken_in_the_order_that_is_asked_for() -> None:
    rows = [3, 0, 3]
    asked = np.array(rows)
    rankings, labels = expected_rankings(), expected_labels()
    assert read_rankings(pack_rankings().take(asked)) == [rankings[row] for row in rows]
    assert read_labels(pack_labels().take(asked)) == [labels[row] for row in rows]


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    for block in (pack_rankings(), pack_labels()):
        with pytest.raises(IndexError, match="row"):
            block.take(np.array([row]))


def test_blocks_are_joined_in_order() -> None:
    assert read_rankings(RankingBlock.join([pack_rankings([2, 0]), pack_rankings([1, 3])])) == (
        expected_rankings()
    )
    assert read_labels(LabelBlock.join([pack_labels([2, 0]), pack_labels([1, 3])])) == (
        expected_labels()
    )
    assert len(RankingBlock.join([])) == len(LabelBlock.join([])) == 0


def test_single_columns_are_those_of_all_columns() -> None:
    block, labels = pack_rankings(), pack_labels()
    seqs, times, contexts, ranking_ids, event_ids, _, user_ids, _ = zip(
        *read_rankings(block), strict=True
    )
    assert [*map(numbers, (block.seqs(), block.times(), block.contexts()))] == [
        *map(list, (seqs, times, contexts))
    ]
    assert [*map(texts, (block.ranking_ids(), block.event_ids(), block.user_ids()))] == [
        *map(list, (ranking_ids, event_ids, user_ids))
    ]
    seqs, shown, times, _, ranking_ids, event_ids, *_ = zip(*read_labels(labels), strict=True)
    assert [*map(numbers, (labels.seqs(), labels.shown(), labels.times()))] == [
        *map(list, (seqs, shown, times))
    ]
    assert [*map(texts, (labels.ranking_ids(), labels.event_ids()))] == [
        *map(list, (ranking_ids, event_ids))
    ]


@pytest.mark.parametrize("rows", [(0, 2), (1, 3)])
def test_ids_of_events_are_there_whether_they_differ_from_all_or_no_ids_of_rankings(
    rows: tuple[int, ...],
) -> None:
    block = pack_rankings(rows)
    expected = [row[4] for row in expected_rankings() if row[0] in rows]
    assert texts(block.event_ids()) == expected


def test_labels_find_their_rankings() -> None:
    rankings, labels = pack_rankings(), pack_labels()
    positions, rows = map(numbers, join_labels(rankings, labels))
    shown, told = expected_rankings(), expected_labels()
    expected = [
        (position, row)
        for position, ranking in enumerate(shown)
        for row, label in enumerate(told)
        if (ranking[1], ranking[3]) == (label[1], label[4])
    ]
    assert list(zip(positions, rows, strict=True)) == expected
    assert len(expected) == 3
    with pytest.raises(ValueError, match="order"):
        join_labels(rankings.take(np.array([1, 0])), labels)
    with pytest.raises(ValueError, match="order"):
        join_labels(rankings, labels.take(np.array([1, 0])))


@pytest.mark.parametrize("kind", [RankingBlock, LabelBlock])
def test_bytes_that_are_no_block_are_refused(kind: type[RankingBlock | LabelBlock]) -> None:
    body = kind.join([]).encode()
    assert len(kind.decode(body)) == 0
    for other in (b"", body[:-1], body + b"\0"):
        with pytest.raises(ValueError, match=r"^damaged$"):
            kind.decode(other)


def test_what_does_not_fit_is_refused() -> None:
    batch = pack_events(RANKINGS)
    settled = batch.hash_ids(1).settle([], 1)
    for numbers in ([], [1, 2]):
        with pytest.raises(ValueError, match="a number for each context"):
            settled.rankings(numbers)
    with pytest.raises(ValueError, match="a status for each event"):
        batch.tell(b"")
    with pytest.raises(IndexError, match="a place for each object"):
        batch.merge(batch, [0, 1, 2])
    with pytest.raises(ValueError, match="columns of one length"):
        pack_events([replace(RANKINGS[0], items=Items(("a",), (1, 2)))])


def hash_id(project: int, text: str) -> tuple[int, int]:
    content = project.to_bytes(8, "little", signed=True) + text.encode()
    found = blake2b(content, digest_size=16).digest()
    first, second = (int.from_bytes(half, "little", signed=True) for half in (found[:8], found[8:]))
    return first, second


def test_keys_are_halves_of_a_hash_of_the_project_and_the_id() -> None:
    ids = ["", "r1", "straße"]
    for project in (0, 1, 2**63 - 1):
        assert hash_ids(project, ids) == [hash_id(project, text) for text in ids]
        assert hash_other_ids(project, ids) == [hash_id(project, f"{text}\0") for text in ids]
    block, labels = pack_rankings(), pack_labels()
    keys = [*zip(*map(numbers, block.keys(5)), strict=True)]
    assert keys == [hash_id(5, row[3]) + hash_id(5, row[4]) for row in expected_rankings()]
    keys = [*zip(*map(numbers, labels.keys(5)), strict=True)]
    assert keys == [hash_id(5, row[5]) for row in expected_labels()]
