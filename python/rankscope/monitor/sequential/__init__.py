"""Sequential statistics: evidence that can be checked after every period."""

from __future__ import annotations
