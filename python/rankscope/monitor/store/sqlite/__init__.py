"""The store in one SQLite file: writing in group commits, reading, locking, and durability."""

from __future__ import annotations
