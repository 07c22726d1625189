"""Stores of events: durable, each event once, read back as columns."""

from __future__ import annotations
