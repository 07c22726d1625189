"""Writes the values of archived rankings to files of their own, beside those of their hours.

The files are for other tools. They are computed from the files of the hours alone, with the
definition of the project, once the hour is final under it. `docs/history-files.md` describes their
columns.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from rankscope.errors import FileError
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.arrays import write_numbers
from rankscope.monitor.evaluate.values import evaluate_chunks, find_left_out, name_columns
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.store.columns import MAKERS
from rankscope.monitor.store.log.blocks import are_there
from rankscope.monitor.store.log.files import ArchivedValues
from rankscope.monitor.store.log.hour_file import HourFile
from rankscope.monitor.store.log.layout import describe_hour
from rankscope.monitor.store.log.values import list_without_values, put_values
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, TypeAlias

    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.files import HistoryPlace
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.store import Store

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

FORMAT = "1"
"""The version of the columns, which each file has as `rankscope.values` in its metadata."""
BESIDE = ("ranking_id", "time", "query_key", "user_id", "model", "version", "attributes")
"""What the files of hours and of values have in common."""
TABLED = (
    "definition",
    "query_key",
    "user_id",
    *MAKERS[:2],
    "attributes.key_value.key",
    "attributes.key_value.value",
    "documents",
    "relevant",
)
"""The columns with few different values, as those of values, which are written with a dictionary.
"""

ENCODINGS = {"time": "DELTA_BINARY_PACKED"}


@record(frozen=True, slots=True)
class WrittenValues:
    """What was written to files with values.

    Args:
        hours: The number of hours.
        rankings: The number of rankings.
        bytes: The size of the files.
    """

    hours: int
    rankings: int
    bytes: int


def write_missing_values(
    store: Store, project: str, definition: Definition, *, before: int, is_new: bool = False
) -> WrittenValues:
    """Write the values of the archived hours that have none of a definition."""
    place = store.history
    if place is None:
        return WrittenValues(0, 0, 0)
    work = partial(
        list_without_values,
        project=project,
        definition=definition.hash,
        before=before,
        is_new=is_new,
    )
    hours = rankings = size = 0
    for hour in store.query(work):
        written = _write_hour(store, place, project, hour, definition)
        if written is not None:
            hours += 1
            rankings += written.rankings
            size += written.size
    return WrittenValues(hours, rankings, size)


def _write_hour(
    store: Store, place: HistoryPlace, project: str, hour: Block, definition: Definition
) -> ArchivedValues | None:
    """Write the values of an hour; `None` if its file is replaced meanwhile."""
    with place.open_part(project, hour.start, "values") as part:
        try:
            write_values(part, HourFile(place, hour), definition, hour.start)
        except FileError as error:
            # The file of an hour that is replaced is removed at once if events are deleted.
            is_listed = partial(are_there, expected=[hour])
            if error.code == "history_missing" and not store.query(is_listed):
                return None
            raise
        published = place.publish(part)
    values = ArchivedValues(
        hour.block_id,
        definition.hash,
        published.path,
        hour.rankings,
        published.size,
        published.checksum,
    )
    work = partial(put_values, hour=hour, values=values)
    if not store.transact(work).result():
        # What was deleted meanwhile must not stay.
        place.remove(published.path)
        return None
    return values


def describe_values(definition: Definition) -> Foreign:
    """Return the schema of a file with values of a definition."""
    pa = load_arrow()
    hour = describe_hour()
    return pa.schema(
        [
            *(hour.field(name) for name in BESIDE),
            *((name, pa.float64()) for name in name_columns(definition)),
            ("documents", pa.int32()),
            ("relevant", pa.int32()),
            *((name, pa.bool_()) for name in ("labelled", "tied", "gaps", "refused")),
            ("definition", pa.string()),
        ],
        metadata={"rankscope.values": FORMAT, "rankscope.definition": definition.to_json()},
    )


def write_values(path: Path, file: HourFile, definition: Definition, start: int) -> None:
    """Write the values of the rankings of an hour to a file, in their order."""
    parquet = load_arrow("pyarrow.parquet")
    schema = describe_values(definition)
    waiting: deque[Foreign] = deque()

    def read() -> Iterator[Chunk]:
        for chunk, beside in file.read_beside(BESIDE, is_brief=True):
            is_left = find_left_out(chunk, definition.left_out)
            waiting.append(beside if is_left is None else beside.filter(~is_left))
            yield chunk

    with parquet.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[*TABLED, *name_columns(definition)],
        column_encoding=ENCODINGS,
        write_page_checksum=True,
    ) as writer:
        # All attribution windows of the hour are closed by then, and no later label counts.
        final = start + HOUR + definition.window * SECOND
        for each in evaluate_chunks(read(), definition, now=final, threads=1):
            writer.write_table(_make_rows(waiting.popleft(), each, definition, schema))


def _make_rows(
    beside: Foreign, evaluated: Evaluated, definition: Definition, schema: Foreign
) -> Foreign:
    """Return the values of the rankings of a row group, beside what is known of the rankings."""
    pa = load_arrow()
    values, graded = evaluated.values, evaluated.graded
    count = beside.num_rows
    columns = [
        *(beside.column(name) for name in BESIDE),
        *(write_numbers(column) for column in values.columns().values()),
        *(pa.array(column, pa.int32()) for column in (values.documents, values.relevant)),
        *map(pa.array, (graded.is_labelled, values.is_tied, values.has_gaps, values.is_refused)),
        pa.repeat(pa.scalar(definition.hash), count),
    ]
    return pa.table(columns, schema=schema)
