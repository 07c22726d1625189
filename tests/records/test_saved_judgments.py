"""Judgments that were saved are read only as what judgments can be, whatever their bytes are."""

from __future__ import annotations

from collections import Counter

import pytest
from rankscope._core import Judgments
from rankscope.errors import RankscopeError

FACTOR = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
SUM = 8


def seal(content: bytes) -> bytes:
    """Append the checksum, so that it doesn't tell what was changed."""
    padded = content + bytes(-len(content) % 8)
    if len(content) % 8 == 0:
        padded += bytes(8)
    total = len(content)
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        mixed = (total ^ word) * FACTOR & MASK
        total = (mixed << 29 | mixed >> 35) & MASK
    return content + total.to_bytes(SUM, "little")


def test_no_document_is_judged_twice_whatever_byte_is_changed() -> None:
    made = Judgments.from_dict({"q": {"a": 1, "b": 2, "c": 0}, "p": {"b": 3}}, "error")
    restore, (saved,) = made.__reduce__()
    content = saved[:-SUM]
    assert seal(content) == saved
    outcomes: Counter[str] = Counter()
    for at in range(len(content)):
        for value in range(4):
            changed = bytearray(content)
            changed[at] = value
            try:
                found = restore(seal(bytes(changed)))
            except RankscopeError:
                outcomes["refused"] += 1
                continue
            outcomes["read"] += 1
            for query in range(len(found.query_ids())):
                docs = [doc for doc, _ in found.documents(query)]
                assert len(set(docs)) == len(docs), (at, value)
    assert min(outcomes["refused"], outcomes["read"]) > 20


def test_a_checksum_that_does_not_fit_is_refused() -> None:
    restore, (saved,) = Judgments.from_dict({"q": {"a": 1}}, "error").__reduce__()
    with pytest.raises(RankscopeError, match="damaged"):
        restore(saved[:-1] + bytes([saved[-1] ^ 1]))
