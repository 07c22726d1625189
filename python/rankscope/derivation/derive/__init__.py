"""Derivations: the terms of a value, computed by the kernels that evaluate."""

from __future__ import annotations
