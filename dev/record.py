"""Dated records of what was measured."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def today() -> str:
    """Return the current day in UTC, as `YYYY-MM-DD`."""
    return dt.datetime.now(dt.UTC).date().isoformat()


def write_page(title: str, text: str, folder: Path, date: str | None = None) -> Path:
    """Write a record as a Markdown page named after its day, and return the path.

    Args:
        title: The page's title; the day follows it.
        text: The page's content, as Markdown.
        folder: The folder to write to. It is created if it doesn't exist.
        date: The day of the measurement (default: today).
    """
    date = date or today()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{date}.md"
    path.write_text(f"# {title}, {date}\n\n{text}", encoding="utf-8")
    return path
