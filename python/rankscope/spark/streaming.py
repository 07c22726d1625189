"""Write a stream of events into a monitor."""

from __future__ import annotations

from rankscope.errors import FormatError, UsageError
from rankscope.spark.frames import check_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from rankscope.monitor import Monitor
    from rankscope.monitor.intake.ingestion import Ingested
    from rankscope.spark.parquet import Frame

ROWS_AT_ONCE = 100_000
"""How many rows of a batch are stored in one go."""


def write_to_monitor(
    monitor: Monitor,
    kind: Literal["rankings", "labels"],
    *,
    names: Mapping[str, str] | None = None,
    attributes: Sequence[str] | None = None,
    on_stored: Callable[[Ingested], None] | None = None,
) -> Callable[[Frame, int], None]:
    """Return a function for `foreachBatch` that stores the events of each batch in a monitor.

    Structured Streaming may send a batch again after a failure. Each event is stored once: a repeat
    is recognized by its `event_id`, or by its `ranking_id` if a ranking has none.

    Args:
        monitor: A monitor that is opened for writing, on the driver.
        kind: What the stream has: `rankings` or `labels`, as `Monitor.log_rankings` and
            `Monitor.log_labels` take data frames of them.
        names: As in `Monitor.log_rankings`.
        attributes: As in `Monitor.log_rankings`, for rankings only.
        on_stored: Called with what became of the events of each batch, of which some may have been
            rejected (default: a rejected event stops the stream with an error).

    Raises:
        UsageError: The monitor only reads, or `kind` isn't one of its choices.
    """
    if kind not in {"rankings", "labels"}:
        raise UsageError(
            f"expected kind to be rankings or labels, found {kind!r}",
            hint="write write_to_monitor(monitor, 'rankings')",
            code="bad_parameter",
        )
    monitor.writer  # noqa: B018 - fails now, and not in the first batch

    def write(batch: Frame, _number: int) -> None:
        check_frame(batch, "the batch")
        table = batch.toArrow()
        for start in range(0, table.num_rows, ROWS_AT_ONCE):
            rows = table.slice(start, ROWS_AT_ONCE)
            if kind == "rankings":
                stored = monitor.log_rankings(rows, names=names, attributes=attributes)
            else:
                stored = monitor.log_labels(rows, names=names)
            if on_stored is not None:
                on_stored(stored)
            elif stored.rejected or stored.conflict:
                raise FormatError(
                    f"{stored.rejected + stored.conflict} of {rows.num_rows} events were not "
                    f"stored; the first is row {stored.refused[0]}",
                    hint="filter such rows out of the stream, or pass on_stored to go on",
                    code="rejected_events",
                )

    return write
