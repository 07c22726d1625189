"""PyArrow is whole when it is used, whichever thread loads it."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
from rankscope._inputs import arrow


@pytest.mark.parametrize("is_loading", [False, True])
def test_what_another_thread_is_loading_is_waited_for(
    *, is_loading: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, whole = ModuleType("found"), ModuleType("whole")
    found.__spec__ = SimpleNamespace(_initializing=is_loading)  # type: ignore[assignment]  # as importlib sets it
    monkeypatch.setitem(sys.modules, "some_library", found)
    monkeypatch.setattr(arrow, "import_module", lambda _: whole)
    assert arrow.load_arrow("some_library") is (whole if is_loading else found)
