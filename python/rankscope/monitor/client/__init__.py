"""The client that sends events to a service from the process that serves rankings."""

from __future__ import annotations
