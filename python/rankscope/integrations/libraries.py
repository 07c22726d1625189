"""Import the library that an integration needs, or explain how to install it."""

from __future__ import annotations

from importlib import import_module

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

PACKAGES = {
    "ir_measures": "ir-measures",
    "pyterrier": "python-terrier",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
}
"""Modules whose package has another name on PyPI."""


def require(module: str) -> ModuleType:
    """Return a module of another library, which is imported now.

    Args:
        module: The name to import, such as `lightgbm` or `sklearn.metrics`.

    Raises:
        UsageError: The library is not installed, or its import fails.

    Examples:
        >>> require("json").dumps({"a": 1})
        '{"a": 1}'
        >>> require("no_such_library")
        Traceback (most recent call last):
        rankscope.errors.UsageError: this needs no_such_library, which is not installed
        <BLANKLINE>
        Hint: run `pip install no_such_library`
    """
    library = module.partition(".")[0]
    package = PACKAGES.get(library, library)
    try:
        return import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            raise UsageError(
                f"this needs {package}, which is not installed",
                hint=f"run `pip install {package}`",
                code="missing_library",
            ) from error
        raise UsageError(
            f"{package} is installed, but importing {module} fails: {error}",
            hint=f"run `pip install --upgrade {package}`, or the command that the message names",
            code="broken_library",
        ) from error
