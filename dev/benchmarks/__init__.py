"""Ours and the peers side by side: what is measured, how, and the records."""

from __future__ import annotations
