"""How a project is measured: measures, label weights, attribution window, slices, and baseline."""

from __future__ import annotations
