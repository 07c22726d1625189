"""Names of a package, NumPy and PyArrow, which are imported when they are first used.

A program pays only for what it uses: `import rankscope` loads a fraction of the modules. Type
checkers and editors see ordinary imports, in the stub of the package.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from types import FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv
    import pyarrow.fs as arrow_fs
    import pyarrow.json as arrow_json
    import pyarrow.parquet as pq
else:

    class _Deferred(ModuleType):
        def __getattr__(self, name: str) -> object:
            try:
                value = getattr(import_module(self.__name__), name)
            except ModuleNotFoundError as error:
                raise missing(self.__name__) from error
            setattr(self, name, value)  # the next time, nothing is looked for
            return value

        def __reduce__(self) -> tuple[object, ...]:
            return import_module, (self.__name__,)  # Spark pickles what functions refer to

    np, pa = _Deferred("numpy"), _Deferred("pyarrow")
    pc, pq = _Deferred("pyarrow.compute"), _Deferred("pyarrow.parquet")
    arrow_csv, arrow_fs, arrow_json = (_Deferred(f"pyarrow.{x}") for x in ("csv", "fs", "json"))

__all__ = [
    "arrow_csv",
    "arrow_fs",
    "arrow_json",
    "defer",
    "missing",
    "np",
    "pa",
    "pc",
    "pq",
]

IMPORTED = re.compile(r"^from (rankscope[.\w]*) import \(?\s*(\w+) as \2\b", re.MULTILINE)


def defer(
    package: str,
    file: str,
    *,
    functions: Collection[str] = (),
    hints: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__` and the `__dir__` of a package, and the names of its stub.

    The stub beside `__init__.py` is the only list of the names: it is what type checkers and
    editors read, and each of its imports is done when its name is first used.

    Args:
        package: The name of the package.
        file: The path of its `__init__.py`.
        functions: The names that are those of submodules as well, which are imported here. Python
            sets the attribute of a package when it first imports a submodule; now that this is
            done, the name can stand for the function.
        hints: What to write in place of names that there aren't.

    Returns:
        A function that imports what a name stands for, or the submodule of this name; one that
        lists the names for completion, whether they were used or not; and the names.

    Examples:
        >>> import rankscope
        >>> get, list_names, names = defer("rankscope", rankscope.__file__)
        >>> get("Table").__name__
        'Table'
        >>> "Table" in list_names(), "Table" in names
        (True, True)
    """
    # `pathlib` takes longer to load than the rest of this file.
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123 - as above
        imports = {name: module for module, name in IMPORTED.findall(stub.read())}
    modules = {name: module for name, module in imports.items() if module != package}
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
                raise _no_attribute(package, name, (hints or {}).get(name, "")) from None
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*imports, *held["__all__"], *(name for name in held if name[:2] == "__")})

    return get, list_names, sorted(modules)


def _no_attribute(package: str, name: str, hint: str = "") -> AttributeError:
    text = f"module {package!r} has no attribute {name!r}"
    return AttributeError(f"{text}: {hint}" if hint else text, name=name)


def missing(module: str) -> Exception:
    """Return the error for a package that isn't installed."""
    from rankscope.errors import FormatError  # noqa: PLC0415 - rarely needed

    name = module.partition(".")[0]
    return FormatError(
        f"this kind of input needs {name}, which is not installed",
        hint=f"install it: pip install {name}",
        code="missing_extra",
    )
