"""What separates two runs or two discounts: losses, moved documents, and changed orders."""

from __future__ import annotations
