"""How far rankings agree: of runs, of orders of systems, and of single lists."""

from __future__ import annotations
