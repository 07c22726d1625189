"""Who may do what: keys, sessions, origins, and rate limits."""

from __future__ import annotations
