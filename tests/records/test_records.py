"""Public records: what they are made of, that they can't change, and what an editor shows."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections import Counter
from typing import Any

import pytest
import rankscope
import rankscope.monitor
from rankscope import Policy
from rankscope._core import Judgments
from rankscope.errors import RankscopeError


@pytest.mark.parametrize(
    ("args", "given"), [((None,) * 9, {}), (("best",), {"ties": "best"}), ((), {"tie": "best"})]
)
def test_what_is_too_much_twice_or_unknown_is_refused(
    args: tuple[Any, ...], given: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match="Policy"):
        Policy(*args, **given)


def test_a_record_cannot_change() -> None:
    policy: Any = Policy()
    with pytest.raises(AttributeError, match="immutable"):
        policy.ties = "best"
    with pytest.raises(AttributeError, match="immutable"):
        del policy.ties
    with pytest.raises(AttributeError):
        policy.tie = "best"


def test_equal_records_hash_alike_and_are_copied_and_pickled() -> None:
    policy = Policy(ties="best")
    assert len({policy, Policy(ties="best"), Policy()}) == 2
    assert copy.deepcopy(policy) == pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 - ours


PUBLIC = {
    f"{module.__name__}.{name}": found
    for module in (rankscope, rankscope.monitor)
    for name in module.__all__
    if inspect.isclass(found := getattr(module, name)) and hasattr(found, "__match_args__")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_record_has_a_signature_with_names_types_and_defaults(name: str) -> None:
    found = PUBLIC[name]
    parameters = inspect.signature(found).parameters
    named = found.__match_args__ or tuple(field.name for field in dataclasses.fields(found))
    assert tuple(parameters) == named
    for field, parameter in parameters.items():
        assert parameter.annotation == found.__annotations__[field]
        assert parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}


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
