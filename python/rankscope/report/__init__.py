"""One page that says what the numbers are, what they are made of, and how to get them again."""

from __future__ import annotations

from rankscope.report.report import Report as Report
