"""What the report and the dashboard share: templates, style, and charts."""

from __future__ import annotations
