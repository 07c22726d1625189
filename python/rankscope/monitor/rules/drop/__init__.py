"""Detection: streams, floors, evidence, and the state that follows from them."""

from __future__ import annotations
