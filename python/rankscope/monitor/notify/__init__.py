"""Alerts on their way to people: their text, webhooks, and delivery with retries."""

from __future__ import annotations
