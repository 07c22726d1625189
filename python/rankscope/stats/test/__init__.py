"""Tests of the differences of systems on the same queries, and corrections for many tests."""

from __future__ import annotations
