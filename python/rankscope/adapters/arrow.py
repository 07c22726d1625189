"""PyArrow, loaded when the first table needs it."""

from __future__ import annotations

from importlib import import_module

from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_arrow(module: str = "pyarrow") -> Any:  # noqa: ANN401 - PyArrow has no types
    """Import PyArrow, or one of its modules.

    Raises:
        FormatError: It is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise FormatError(
            "expected pyarrow to be installed, which reads tables",
            hint="pip install 'rankscope[tables]'",
            code="missing_extra",
        ) from error
