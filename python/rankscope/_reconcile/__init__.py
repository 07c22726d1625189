"""Which conventions give a number, found by evaluating under all of them."""

from __future__ import annotations
