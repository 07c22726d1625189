"""Early warnings: whether signals, which are known before labels, are as usual."""

from __future__ import annotations
