"""The configuration of a project: measures, label weights, attribution window, slices, baseline."""

from __future__ import annotations
