"""What happened: rankings that were shown and labels that arrived, read and checked."""

from __future__ import annotations
