"""How many faults, made at random, the tests of an area find."""

from __future__ import annotations
