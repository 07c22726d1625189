"""`rankscope demo`: a demo on generated data, with a monitor or with files only."""

from __future__ import annotations
