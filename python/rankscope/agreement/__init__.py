"""How far rankings agree: those of runs, and single lists."""

from __future__ import annotations
