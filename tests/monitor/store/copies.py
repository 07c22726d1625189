"""Copies of stores, as backups that are restored at once."""

from __future__ import annotations

from pathlib import Path

from rankscope.monitor.backups import make_backup, restore_backup
from rankscope.monitor.store.store import StoreReader


def copy_store(store: StoreReader, path: Path) -> int:
    """Copy a store to a new file, and give the number of the last event in the copy."""
    place = path.with_name(f"{path.name}.backups")
    made = make_backup(store, str(place), now=0)
    restore_backup(str(place), path)
    return made.mark.seq
