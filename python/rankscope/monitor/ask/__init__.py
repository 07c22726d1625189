"""The questions that a project answers: series, data quality, traces and explanations."""

from __future__ import annotations
