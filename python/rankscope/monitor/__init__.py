"""The monitor: rankings in production, from the log to the cause."""

from __future__ import annotations

from rankscope.monitor.client import Client

__all__ = ["Client"]
