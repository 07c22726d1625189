from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import rankscope
import rankscope.monitor
from rankscope.records import record, replace


@record(frozen=True, slots=True)
class Point:
    """Two numbers."""

    x: int
    y: int = 2

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


@record(frozen=True, slots=True, kw_only=True)
class Named:
    """One text, given by name."""

    name: str

    def __repr__(self) -> str:
        return self.name


def test_values_come_by_position_by_name_and_by_default() -> None:
    assert Point(1) == Point(1, 2) == Point(x=1, y=2) == Point(1, y=2)
    assert Point(1) != Point(2)
    assert Point(1) != (1, 2)


@pytest.mark.parametrize(
    ("args", "given"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((), {"y": 1})],
)
def test_values_missing_or_too_many_are_refused(
    args: tuple[int, ...], given: dict[str, int]
) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(*args, **given)


def test_values_by_name_only_are_not_taken_by_position() -> None:
    with pytest.raises(TypeError, match="by position"):
        Named("a")  # type: ignore[misc]
    assert Named(name="a").name == "a"


def test_a_record_cannot_change() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="immutable"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 3  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_equal_records_hash_alike_and_read_back() -> None:
    assert len({Point(1), Point(1, 2), Point(3)}) == 2
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert repr(Named(name="own")) == "own"


def test_records_are_copied_pickled_and_replaced() -> None:
    point = Point(1, 5)
    assert pickle.loads(pickle.dumps(point)) == point  # noqa: S301 - our own bytes
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(Named(name="a"))).name == "a"  # noqa: S301 - our own bytes
    assert replace(point, y=7) == Point(1, 7)
    with pytest.raises(ValueError, match="-1"):
        replace(point, x=-1)


def test_a_signature_shows_the_fields_with_their_defaults() -> None:
    assert str(inspect.signature(Point)) == "(x: 'int', y: 'int' = 2)"
    assert str(inspect.signature(Named)) == "(*, name: 'str')"


def test_a_class_that_extends_a_record_has_its_own_signature() -> None:
    class Pair(Point):
        def __init__(self, pair: str) -> None:
            super().__init__(*map(int, pair.split()))

        def __call__(self, factor: float) -> float:
            return factor * self.x

    assert list(inspect.signature(Pair).parameters) == ["pair"]
    assert list(inspect.signature(Pair("1 2")).parameters) == ["factor"]


PUBLIC = {
    f"{module.__name__}.{name}": found
    for module in (rankscope, rankscope.monitor)
    for name in module.__all__
    if inspect.isclass(found := getattr(module, name)) and hasattr(found, "__match_args__")
}
"""The public records."""


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_record_has_a_signature_with_names_types_and_defaults(name: str) -> None:
    found = PUBLIC[name]
    parameters = inspect.signature(found).parameters
    assert tuple(parameters) == found.__match_args__
    for field, parameter in parameters.items():
        assert parameter.annotation == found.__annotations__[field]
        assert parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}


def test_the_signature_of_a_policy_is_what_an_editor_shows() -> None:
    parameters = inspect.signature(rankscope.Policy).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert rankscope.Policy(**defaults) == rankscope.Policy()
    assert str(parameters["empty"]) == "empty: 'Empty' = 'zero'"
