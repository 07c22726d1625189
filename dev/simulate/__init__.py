"""How often alerts are false and how soon they are true, on simulated searches."""

from __future__ import annotations
