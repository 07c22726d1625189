"""Estimates of what another ranker would have got, from a log of weighted impressions."""

from __future__ import annotations
