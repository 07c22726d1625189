"""Watches: whether rankings, labels and attribute values arrive as usual."""

from __future__ import annotations
