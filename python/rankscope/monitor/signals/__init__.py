"""What was shown and how it was ordered, hour by hour: known before labels arrive."""

from __future__ import annotations
