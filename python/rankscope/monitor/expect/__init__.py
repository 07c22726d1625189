"""The values that rankings are expected to have, before labels arrive."""

from __future__ import annotations
