"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from rankscope.deferred import defer

# The client is for processes that serve rankings: what it does not need loads when it is named.
__getattr__, __dir__, _names = defer(__name__, __file__)
__all__ = [*_names]  # noqa: PLE0604 - they are strings
