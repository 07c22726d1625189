"""Names of a package, and NumPy as `np`, which are imported when they are first used.

A program pays only for what it uses: `import rankscope` loads a fraction of the modules. Type
checkers and editors see ordinary imports, under `TYPE_CHECKING` beside the call of `defer`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import numpy as np
else:

    class _Deferred(ModuleType):
        def __getattr__(self, name: str) -> object:
            value = getattr(import_module(self.__name__), name)
            setattr(self, name, value)  # the next time, nothing is looked for
            return value

    np = _Deferred("numpy")

__all__ = ["defer", "np"]


def defer(
    package: str,
    modules: Mapping[str, str],
    *,
    functions: Collection[str] = (),
    submodules: Collection[str] = (),
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Examples:
        >>> get, list_names = defer("rankscope.results", {"Table": "rankscope.results.table"})
        >>> get("Table").__name__
        'Table'
        >>> "Table" in list_names()
        True
    """
    for name in functions:
        import_module(f"{package}.{name}")
        delattr(sys.modules[package], name)

    def get(name: str) -> object:
        if name in modules:
            value = getattr(import_module(modules[name]), name)
            if isinstance(value, FunctionType):
                from rankscope.hints import hint_arguments  # noqa: PLC0415 - not for classes

                value = hint_arguments(value)
                value.__module__ = package  # where pickle finds this one
        elif name.startswith("_"):  # which Python and its tools look for
            raise _no_attribute(package, name)
        else:
            try:
                value = import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
                raise _no_attribute(package, name) from None
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        held = vars(sys.modules[package])
        public = held.get("__all__", modules)
        return sorted({*public, *submodules, *(name for name in held if name.startswith("__"))})

    return get, list_names


def _no_attribute(package: str, name: str) -> AttributeError:
    return AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
