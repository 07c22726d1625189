"""A refusal, held against what all of them have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.errors import RankscopeError

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(call: Callable[[], object], code: str, message: str = "") -> RankscopeError:
    """Return the error that a call is refused with: it has the code, and a hint."""
    with pytest.raises(RankscopeError) as caught:
        call()
    error = caught.value
    assert error.code == code, error
    assert message in error.message, error
    assert error.hint, error
    return error
