"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from importlib import import_module

from rankscope.monitor.client import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.configuration import BaselineChoice, Configuration
    from rankscope.monitor.definition import define
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.spans import Span

# The client is for processes that serve rankings: what it does not need loads when it is named.
LAZY = {
    "BaselineChoice": "configuration",
    "Configuration": "configuration",
    "Monitor": "monitor",
    "Rule": "alerts.rule",
    "Span": "spans",
    "define": "definition",
}

__all__ = ["BaselineChoice", "Client", "Configuration", "Monitor", "Rule", "Span", "define"]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{LAZY[name]}"), name)
    globals()[name] = value
    return value
