"""Alerts: rules, what they conclude from the events, and how people are told."""

from __future__ import annotations
