"""Estimates with their uncertainty."""

from __future__ import annotations
