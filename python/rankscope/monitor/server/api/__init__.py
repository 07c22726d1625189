"""What programs read and change, as JSON."""

from __future__ import annotations
