"""Compares the files with the values of archived hours with the stored windows of these hours."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from rankscope.monitor.evaluate.stored_windows import unpack_cells
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.log.blocks import FILE, list_blocks
from rankscope.monitor.store.log.values import list_values

from tests.monitor.test_windows import spell_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.store import Store

COUNTED = ("labelled", "tied", "gaps", "refused", "documents", "relevant")


def read_files(store: Store, project: str, definition: str) -> dict[int, list[dict[str, Any]]]:
    """The rows of the file with values of each archived hour that has one of a definition."""
    place, found = store.require_history(), {}
    listed = {one.block_id: one for one in store.query(partial(list_values, project=project))}
    for hour in store.query(partial(list_blocks, project=project, kinds=(FILE,))):
        values = listed.get(hour.block_id)
        if values is None or values.definition != definition:
            continue
        rows = pq.ParquetFile(Path(place.check(values))).read().to_pylist()
        ids = pq.ParquetFile(Path(place.check(hour))).read(["ranking_id"]).column(0).to_pylist()
        assert [row["ranking_id"] for row in rows] == ids
        assert {row["definition"] for row in rows} == {definition}
        assert len(rows) == values.rankings == hour.rankings
        found[hour.start] = rows
    return found


def compare_files(
    store: Store, project: str, configuration: Configuration, starts: Collection[int] | None = None
) -> int:
    """Compare the sums of files with the windows of their hours, and return how many there are.

    Args:
        store: A store whose windows are up to date, and all of whose events of these hours are in
            files.
        project: The name of the project.
        configuration: Its configuration.
        starts: Only these hours are compared, where they are given.
    """
    definition = configuration.definition
    files = read_files(store, project, definition.hash)
    rows = store.cells(project, configuration.digest, length=HOUR)
    cells = {
        one.key: one.cell
        for one in unpack_cells(rows)
        if not one.key.slice
        and one.key.environment == "production"
        and (starts is None or one.key.start in starts)
    }
    compared = 0
    for key, (counts, sums) in spell_out(cells, definition).items():
        if key.start not in files:
            continue
        made = [
            row
            for row in files[key.start]
            if (row["model"], row["version"]) == (key.model, key.version)
        ]
        assert key.is_mature
        assert len(made) == counts["rankings"]
        for name in COUNTED:
            assert sum(row[name] for row in made) == counts[name], name
        for name in name_columns(definition):
            values = [row[name] for row in made if row[name] is not None]
            assert (len(values), math.fsum(values)) == sums[name], name
        compared += 1
    return compared
