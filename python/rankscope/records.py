"""Frozen records, like `dataclasses.dataclass(frozen=True, slots=True)` but faster to create.

Loading the standard module and generating methods for the classes of this package would take longer
than everything else that `import rankscope` does, which every command would have to wait for. Type
checkers and editors see the standard decorator, and `inspect.signature` shows the fields.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
    from dataclasses import replace
    from inspect import Signature
    from typing import Any
else:

    def record(
        *, frozen: bool = True, slots: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """Turn a class into a frozen record of its annotated fields.

        Values are passed by position or by name, and can't be set again. Records of one class with
        equal values are equal and have the same hash. `__post_init__` is called on each new record.
        Methods that the class defines itself are kept.

        Args:
            frozen: Always true; for type checkers.
            slots: Always true; for type checkers.
            kw_only: Whether values are passed by name only.
        """
        if not (frozen and slots):
            raise TypeError("a record is frozen, and has slots")
        return lambda cls: _make(cls, kw_only=kw_only)

    def replace(made: object, /, **changes: object) -> object:
        """Return a copy of a record with other values for some fields."""
        return made.__replace__(**changes)


__all__ = ["as_dict", "record", "replace"]

_set = object.__setattr__


def _make(cls: type, *, kw_only: bool) -> type:
    names = tuple(cls.__annotations__)
    namespace = dict(cls.__dict__)
    defaults = {name: namespace.pop(name) for name in names if name in namespace}
    for name in ("__dict__", "__weakref__"):
        namespace.pop(name, None)
    positional = () if kw_only else names
    has_post_init = "__post_init__" in namespace

    def __init__(self: object, *args: object, **given: object) -> None:  # noqa: N807
        values = defaults | given
        if args:
            values |= _place(cls.__name__, positional, args, given)
        for name in names:
            if name not in values:
                raise TypeError(f"{cls.__name__} needs a value for {name}")
            _set(self, name, values[name])
        if len(values) > len(names):
            unknown = [name for name in given if name not in names]
            raise TypeError(_describe_unknown(cls.__name__, unknown, names))
        if has_post_init:
            self.__post_init__()  # type: ignore[attr-defined]  # of such classes

    signature = _SignatureOf(__init__, defaults, kw_only=kw_only)
    methods = {"__init__": __init__, "__signature__": signature, **METHODS}
    made = type(cls)(
        cls.__name__,
        cls.__bases__,
        methods | namespace | {"__slots__": names, "__match_args__": names},
    )
    made.__qualname__ = cls.__qualname__
    return made


def _place(
    name: str, positional: tuple[str, ...], args: tuple[object, ...], given: dict[str, object]
) -> dict[str, object]:
    """Return values given by position by their names."""
    if len(args) > len(positional):
        raise TypeError(f"{name} takes {len(positional)} values by position")
    placed = dict(zip(positional, args, strict=False))
    twice = [one for one in given if one in placed]
    if twice:
        raise TypeError(f"{name} got two values for {', '.join(twice)}")
    return placed


def _describe_unknown(name: str, unknown: list[str], names: tuple[str, ...]) -> str:
    return f"{name} has no {', '.join(unknown)}; it takes {', '.join(names)}"


class _SignatureOf:
    """The signature of a record, which is computed when somebody asks for it."""

    def __init__(
        self, init: Callable[..., None], defaults: dict[str, object], *, kw_only: bool
    ) -> None:
        self._init = init
        self._defaults = defaults
        self._kw_only = kw_only

    def __get__(self, made: object, cls: type) -> Signature:
        if made is not None or cls.__init__ is not self._init:  # type: ignore[misc]  # compared
            raise AttributeError("__signature__")
        from inspect import Parameter, Signature  # noqa: PLC0415 - takes long to load

        kind = Parameter.KEYWORD_ONLY if self._kw_only else Parameter.POSITIONAL_OR_KEYWORD
        annotations: dict[str, object] = cls.__annotations__
        return Signature(
            [
                Parameter(
                    name,
                    kind,
                    default=self._defaults.get(name, Parameter.empty),
                    annotation=annotations[name],
                )
                for name in cls.__match_args__  # type: ignore[attr-defined]  # of records
            ]
        )


def _values(made: object) -> tuple[object, ...]:
    names: tuple[str, ...] = type(made).__match_args__  # type: ignore[attr-defined]  # of records
    return tuple(getattr(made, name) for name in names)


def as_dict(made: object) -> dict[str, Any]:
    """Return the fields of a record, by name."""
    return dict(zip(type(made).__match_args__, _values(made), strict=True))  # type: ignore[attr-defined]  # of records


# Copied field by field: a record that follows a time is replaced with each of its steps.
def _replace(self: object, /, **changes: object) -> object:
    cls = type(self)
    copy = object.__new__(cls)
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]  # of records
    for name in names:
        _set(copy, name, changes.pop(name) if name in changes else getattr(self, name))
    if changes:
        raise TypeError(_describe_unknown(cls.__name__, [*changes], names))
    if hasattr(cls, "__post_init__"):
        copy.__post_init__()  # type: ignore[attr-defined]  # of such classes
    return copy


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    cls = type(self)
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]  # of records
    pairs = zip(names, _values(self), strict=True)
    return f"{cls.__qualname__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


def _reduce(self: object) -> tuple[object, ...]:
    return _rebuild, (type(self), _values(self))


def _rebuild(cls: type, values: tuple[object, ...]) -> object:
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]  # of records
    return cls(**dict(zip(names, values, strict=True)))


def _refuse(self: object, name: str, _value: object = None) -> None:
    message = f"{type(self).__name__} is immutable: {name} cannot be set"
    raise AttributeError(message)


METHODS: dict[str, Callable[..., object]] = {
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _repr,
    "__reduce__": _reduce,
    "__replace__": _replace,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
