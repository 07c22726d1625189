"""`rankscope monitor`: rankings in production, from files to the cause of a fall."""

from __future__ import annotations
