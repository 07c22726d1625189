"""The report: values of runs on one page, what they are made of, and how to reproduce them."""

from __future__ import annotations

from rankscope.report.report import Report as Report
