"""What developers run beside the tests: benchmarks, load, simulations and parity with others."""

from __future__ import annotations
