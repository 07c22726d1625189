"""Public records: what they are made of, that they can't change, and what an editor shows."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest
import rankscope
import rankscope.monitor
from rankscope import Policy


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
