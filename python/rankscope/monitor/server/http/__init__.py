"""HTTP: settings, request bodies, queries and forms, and the answers to refused requests."""

from __future__ import annotations
