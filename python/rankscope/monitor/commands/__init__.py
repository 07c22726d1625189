"""`rankscope monitor`: monitors rankings in production."""

from __future__ import annotations
