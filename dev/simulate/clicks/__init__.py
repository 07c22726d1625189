"""Simulated click logs, whose true values are known."""

from __future__ import annotations
