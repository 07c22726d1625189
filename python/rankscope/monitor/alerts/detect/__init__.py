"""What a rule concludes from new data: streams, floors, evidence, and the state that follows."""

from __future__ import annotations
