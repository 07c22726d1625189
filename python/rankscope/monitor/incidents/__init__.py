"""Incidents: problems that checks have found, from their opening to their resolution."""

from __future__ import annotations
