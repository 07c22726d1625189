"""The names of a package, imported when they are first used: a program pays for no others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType


def attach_stub(
    package: str, file: str, homes: Sequence[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, the `__dir__` and the `__all__` of a package from its stub.

    The stub beside `__init__.py` is the only list of the names: it is what type checkers read. Its
    lines are `from MODULE import NAME as NAME`. The error for a name that it doesn't have says
    which of the public modules `homes` has it.
    """
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib loads slowly
        lines = [line.split() for line in stub if line.startswith("from rankscope")]
    modules = {words[-1]: words[1] for words in lines if words[-2] == "as"}

    def get(name: str) -> object:
        if modules.get(name, package) != package:
            value = getattr(import_module(modules[name]), name)
            if isinstance(value, FunctionType):
                from rankscope._names import hint_arguments

                value = hint_arguments(value)
                value.__module__ = package  # where pickle finds this one
        elif name.startswith("_"):  # which Python and its tools look for
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        else:
            try:
                value = import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
                message = f"module {package!r} has no attribute {name!r}"
                for home in homes:
                    value = getattr(import_module(f"{package}.{home}"), name, None)
                    if str(getattr(value, "__module__", "")).startswith(package):
                        message += f"; did you mean {package}.{home}.{name}?"
                raise AttributeError(message, name=name) from None
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted(
            {*modules, *(name for name in vars(sys.modules[package]) if name[:2] == "__")}
        )

    return get, list_names, sorted(modules)
