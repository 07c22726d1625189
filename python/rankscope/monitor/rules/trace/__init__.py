"""The nightly trace: a slice that fell although no rule watches it."""

from __future__ import annotations
