"""How often intervals and tests hold what they promise, in worlds whose truth is known."""

from __future__ import annotations
