"""The process of the service: listening, connections, schedules, logs, and shutdown."""

from __future__ import annotations
