"""Checks that calls are refused with the right errors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from rankscope.errors import RankscopeError


def refuses(
    kind: type[RankscopeError], code: str, match: str | None = None
) -> pytest.RaisesExc[RankscopeError]:
    """Expect an error with a code in a block."""
    return pytest.raises(kind, match=match, check=lambda error: error.code == code)


def refuses_if(
    is_refused: bool,
    kind: type[RankscopeError],
    match: str | None = None,
) -> AbstractContextManager[Any]:
    """Expect an error in a block, or none."""
    return pytest.raises(kind, match=match) if is_refused else nullcontext()


def refused(call: Callable[[], object], code: str, message: str = "") -> RankscopeError:
    """Return the error that a call is refused with: it has the code, and a hint."""
    with pytest.raises(RankscopeError) as caught:
        call()
    error = caught.value
    assert error.code == code, error
    assert message in error.message, error
    assert error.hint, error
    return error
