"""Charts of the dashboard, drawn as SVG."""

from __future__ import annotations
