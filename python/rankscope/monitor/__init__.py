"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from rankscope.monitor.client.client import Client

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.monitor.ask.trace import Span as Span
    from rankscope.monitor.definition.configuration import BaselineChoice as BaselineChoice
    from rankscope.monitor.definition.configuration import Configuration as Configuration
    from rankscope.monitor.definition.definition import define as define
    from rankscope.monitor.monitor import Monitor as Monitor
    from rankscope.monitor.rules.kinds import Rule as Rule
else:
    # The client is for processes that serve rankings: what it does not need loads when it is named.
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "BaselineChoice": "rankscope.monitor.definition.configuration",
            "Configuration": "rankscope.monitor.definition.configuration",
            "Monitor": "rankscope.monitor.monitor",
            "Rule": "rankscope.monitor.rules.kinds",
            "Span": "rankscope.monitor.ask.trace",
            "define": "rankscope.monitor.definition.definition",
        },
    )

__all__ = ["BaselineChoice", "Client", "Configuration", "Monitor", "Rule", "Span", "define"]
