"""The bytes that the core saves are read with care: damage is an error, and never a crash."""

from __future__ import annotations

from contextlib import suppress

import pytest
import rankscope as rs
from rankscope import _core
from rankscope.engine.requests import read_request
from rankscope.errors import FormatError, RankscopeError
from rankscope.evaluation.evaluating import make_plan

QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0.5}}
RUN = {"q1": {"a": 0.5, "b": 0.55, "x": 0.2}, "q2": {"d": 1.0, "a": 1.0}}
TABLE = {
    "query_id": [7, 7, 9],
    "doc_id": [1, 2, 1],
    "score": [0.5, 0.5, 2.0],
    "relevance": [1, 0, 2],
    "country": ["de", "de", "fr"],
}


def save() -> dict[str, _core.Judgments | _core.Rankings | _core.Evaluation]:
    """Objects of the core that are saved."""
    rankings = rs.Rankings.from_run(QRELS, RUN)
    return {
        "judgments": rs.read_qrels(QRELS).judgments,
        "rankings": rankings._core,
        "rankings of a table": rs.Rankings.from_table(TABLE, attributes=["country"])._core,
        "evaluation": rankings.evaluate(["AP", "nDCG@2"], weights=[1.0, 2.0])._answer,
    }


def checksum(saved: bytes) -> bytes:
    """The sum at the end of saved bytes, as the core computes it."""
    total, mask = len(saved), 2**64 - 1
    for start in range(0, len(saved) - len(saved) % 8 + 8, 8):
        word = saved[start : start + 8].ljust(8, b"\0")
        total = (total ^ int.from_bytes(word, "little")) * 0x9E3779B97F4A7C15 & mask
        total = (total << 29 | total >> 35) & mask
    return total.to_bytes(8, "little")


@pytest.mark.parametrize("name", save())
def test_damaged_and_foreign_bytes_are_an_error(name: str) -> None:
    restore, (saved,) = save()[name].__reduce__()
    restore(saved)
    for cut in range(len(saved)):
        with pytest.raises(FormatError) as raised:
            restore(saved[:cut])
        assert raised.value.code == "saved_state"
    for at in range(len(saved)):
        flipped = bytearray(saved)
        flipped[at] ^= 64
        with pytest.raises(FormatError) as raised:
            restore(bytes(flipped))
        assert raised.value.code == "saved_state"
    others = {_core.restore_judgments, _core.restore_rankings, _core.restore_evaluation} - {restore}
    for other in others:
        with pytest.raises(FormatError):
            other(saved)


def test_bytes_of_another_version_say_so() -> None:
    _, (saved,) = save()["rankings"].__reduce__()
    newer = saved[:8] + (99).to_bytes(4, "little") + saved[12:]
    with pytest.raises(FormatError, match="another version of rankscope"):
        _core.restore_rankings(newer)


@pytest.mark.parametrize("name", save())
def test_bytes_with_a_right_checksum_but_wrong_contents_never_crash(name: str) -> None:
    restore, (saved,) = save()[name].__reduce__()
    body = saved[:-8]
    assert checksum(body) == saved[-8:]
    for at in range(16, len(body)):
        for change in (1, 0x80, 0xFF):
            odd = bytearray(body)
            odd[at] ^= change
            try:
                restored = restore(bytes(odd) + checksum(bytes(odd)))
            except FormatError:
                continue
            use(restored)


def use(restored: object) -> None:
    """Read everything of a restored object."""
    if isinstance(restored, _core.Judgments):
        restored.query_ids()
        for query in range(len(restored.query_ids())):
            restored.documents(query)
        _core.evaluate_dict(restored, plan(), RUN)
    elif isinstance(restored, _core.Rankings):
        for query in range(len(restored.query_ids())):
            restored.doc_ids(query)
        with suppress(RankscopeError):
            restored.evaluate(plan(), 1)
    else:
        restored.reweigh([1.0] * len(restored.is_present()))


def plan() -> _core.Plan:
    request = read_request(
        ["nDCG@2", "AP"], "ties=doc_id", convention=None, score_type=None, grades=[0.0, 3.0]
    )
    return make_plan(request, "doc_id", [0.0, 1.0, 2.0, 3.0], "error")
