"""The nDCG that lists without labels can be expected to have, from lists that have theirs."""

from __future__ import annotations
