"""Alerts: rules, their evaluation, and notifications."""

from __future__ import annotations
