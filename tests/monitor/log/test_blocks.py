"""Blocks of rankings and labels refuse what they cannot hold; their keys stay what they are."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from rankscope._core import Column, LabelBlock, RankingBlock, hash_ids, hash_other_ids, join_labels
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.log.ids import RANKING, Entry, compute_checksum
from rankscope.records import replace

ITEMS = Items(("a", "bé"), (1, 2), (0.1, None))
RANKINGS = (
    Ranking("own", "r1", 7, ITEMS),
    Ranking("r0", "r0", 9, ITEMS),
    Ranking("ü", "r3", -5, ITEMS),
)
LABELS = (Label("e1", "r1", "a", 12, ("click",)), Label("e0", "r0", "a", 10, ("click",)))


def numbers(column: Column) -> list[Any]:
    values: list[Any] = np.frombuffer(memoryview(column), column.typecode).tolist()
    return values


def pack_rankings() -> RankingBlock:
    settled = pack_events(RANKINGS).hash_ids(5).settle([], 0)
    return RankingBlock.join([block for _, _, block in settled.rankings([10])])


def pack_labels() -> LabelBlock:
    known = []
    for ranking in RANKINGS:
        (key,) = hash_ids(5, [ranking.ranking_id])
        shown = Entry(9, 9, ranking.time, RANKING)
        known.append((*key, *shown, compute_checksum(key, shown)))
    settled = pack_events(LABELS).hash_ids(5).settle(known, 0)
    return LabelBlock.join([block for _, _, block in settled.labels([])[0]])


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    for block in (pack_rankings(), pack_labels()):
        with pytest.raises(IndexError, match="row"):
            block.take(np.array([row]))


def test_rankings_and_labels_are_joined_in_their_order_alone() -> None:
    rankings, labels = pack_rankings(), pack_labels()
    positions, rows = map(numbers, join_labels(rankings, labels))
    assert (positions, rows) == ([1, 2], [0, 1])
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
        batch.merge(batch, [0, 1])
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
    named = [("r3", "ü"), ("r1", "own"), ("r0", "r0")]
    assert keys == [hash_id(5, one) + hash_id(5, other) for one, other in named]
    keys = [*zip(*map(numbers, labels.keys(5)), strict=True)]
    assert keys == [hash_id(5, "e1"), hash_id(5, "e0")]
