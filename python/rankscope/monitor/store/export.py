"""Writes the events of a project to two Parquet files: rankings and labels, one per row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from rankscope._writing import make_folder, replacing
from rankscope.errors import FileError, UsageError
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.columns import (
    describe_labels,
    describe_rankings,
    write_labels,
    write_rankings,
)
from rankscope.monitor.store.records import Exported
from rankscope.monitor.store.sqlite.files import PRIVATE
from rankscope.monitor.store.store import StoreReader

Foreign: TypeAlias = Any  # of PyArrow, which has no types


FILES = ("rankings.parquet", "labels.parquet")


def export_parquet(
    store: StoreReader,
    project: str,
    folder: str | os.PathLike[str],
    *,
    since: int | None = None,
    until: int | None = None,
) -> Exported:
    """Write the rankings of a project and their labels to Parquet files: both files or none.

    Columns have the names of fields of events, so that the files can be read as events again:
    documents are lists, and times have their zone. Labels without a ranking are not written.
    """
    if since is not None and until is not None and since >= until:
        raise UsageError(
            f"the time range ends before it begins: {format_time(since)} to {format_time(until)}",
            hint="swap since and until",
            code="bad_period",
        )
    with ExitStack() as files:
        target = files.enter_context(_open_folder(folder))
        parts = [files.enter_context(replacing(target / name, mode=PRIVATE)) for name in FILES]
        with ExitStack() as open_writers:
            sinks = [open_writers.enter_context(part.open("wb")) for part in parts]
            writers = [
                open_writers.enter_context(pq.ParquetWriter(sink, schema, compression="zstd"))
                for sink, schema in zip(
                    sinks, (describe_rankings(), describe_labels()), strict=True
                )
            ]
            exported = _write(store, project, writers, since, until)
    return exported


@contextmanager
def _open_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder if it does not exist, and remove it again if the block fails."""
    target = Path(folder)
    is_new = make_folder(target, mode=0o700)
    _refuse_existing(target)
    try:
        yield target
    except BaseException:
        if is_new:
            with suppress(OSError):  # somebody else may have put a file there
                target.rmdir()
        raise


def _write(
    store: StoreReader,
    project: str,
    writers: list[Foreign],
    since: int | None,
    until: int | None,
) -> Exported:
    contexts = store.contexts(project)
    rankings = labels = 0
    for chunk in store.read(project, since, until, event_ids=True):
        batches = write_rankings(chunk, contexts), write_labels(chunk)
        for writer, batch in zip(writers, batches, strict=True):
            writer.write_batch(batch)
        rankings += len(chunk.seqs)
        labels += len(chunk.labels.codes)
    return Exported(rankings, labels)


def _refuse_existing(folder: Path) -> None:
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise FileError(
            f"the folder has {' and '.join(there)} already",
            hint="use another folder",
            code="io",
            file=str(folder),
        )
