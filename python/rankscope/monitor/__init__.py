"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from rankscope._lazy import attach_stub

# The client is for processes that serve rankings: what it does not need loads when it is named.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
