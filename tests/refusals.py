"""What an error of rankscope is told by: its type, and its code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rankscope.errors import RankscopeError


def refuses(
    kind: type[RankscopeError], code: str, match: str | None = None
) -> pytest.RaisesExc[RankscopeError]:
    """Expect an error with a code in a block."""
    return pytest.raises(kind, match=match, check=lambda error: error.code == code)
