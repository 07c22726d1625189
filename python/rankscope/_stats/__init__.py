"""Statistics: estimates with their uncertainty, detection of drops, and causes of changes."""

from __future__ import annotations
