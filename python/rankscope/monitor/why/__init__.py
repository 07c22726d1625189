"""The causes of a change between two windows: slices, kinds of loss, and confidence."""

from __future__ import annotations
