"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from importlib import import_module

from rankscope.monitor.client.client import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.ask.trace import Span
    from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
    from rankscope.monitor.definition.definition import define
    from rankscope.monitor.monitor import Monitor

# The client is for processes that serve rankings: what it does not need loads when it is named.
LAZY = {
    "BaselineChoice": "definition.configuration",
    "Configuration": "definition.configuration",
    "Monitor": "monitor",
    "Rule": "alerts.rule",
    "Span": "ask.trace",
    "define": "definition.definition",
}

__all__ = ["BaselineChoice", "Client", "Configuration", "Monitor", "Rule", "Span", "define"]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{LAZY[name]}"), name)
    globals()[name] = value
    return value
