"""Estimates from samples, with their uncertainty."""

from __future__ import annotations
