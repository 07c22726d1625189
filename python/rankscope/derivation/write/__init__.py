"""Explanations written as text, Markdown, LaTeX and HTML."""

from __future__ import annotations
