"""Writes events as the files of a lake, one folder an hour."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rankscope.monitor.events.event import Event

RANKINGS = pa.schema(
    [
        *((name, pa.string()) for name in ("event_id", "ranking_id")),
        ("time", pa.timestamp("us", "UTC")),
        *((name, pa.string()) for name in ("query_key", "user_id", "model", "version")),
        ("environment", pa.string()),
        *((name, pa.string()) for name in ("country", "device")),
        ("doc_ids", pa.list_(pa.string())),
        ("rank", pa.list_(pa.int64())),
        ("score", pa.list_(pa.float64())),
    ]
)
LABELS = pa.schema(
    [
        *((name, pa.string()) for name in ("event_id", "ranking_id", "doc_id")),
        ("time", pa.timestamp("us", "UTC")),
        ("label", pa.list_(pa.string())),
        ("value", pa.float64()),
        ("kind", pa.string()),
    ]
)


def to_row(event: Event) -> dict[str, Any]:
    """An event as a row of a table."""
    if isinstance(event, Label):
        return {
            "event_id": event.event_id,
            "ranking_id": event.ranking_id,
            "doc_id": event.doc_id,
            "time": to_datetime(event.time),
            "label": list(event.labels) or None,
            "value": event.value,
            "kind": event.kind,
        }
    return {
        **{name: getattr(event, name) for name in ("event_id", "ranking_id", "query_key")},
        **{name: getattr(event, name) for name in ("user_id", "model", "version", "environment")},
        "time": to_datetime(event.time),
        **dict(event.attributes),
        "doc_ids": list(event.items.doc_ids),
        "rank": list(event.items.ranks),
        "score": list(event.items.scores) or None,
    }


def explode(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rankings with a row for each document."""
    for row in rows:
        shared = {name: row[name] for name in row if name not in {"doc_ids", "rank", "score"}}
        scores = row.get("score") or [None] * len(row["rank"])
        for doc_id, rank, score in zip(row["doc_ids"], row["rank"], scores, strict=True):
            yield shared | {"doc_id": doc_id, "rank": rank, "score": score}


EXPLODED = pa.schema(
    [
        *(field for field in RANKINGS if field.name not in {"doc_ids", "rank", "score"}),
        ("doc_id", pa.string()),
        ("rank", pa.int64()),
        ("score", pa.float64()),
    ]
)


def write_lake(
    folder: Path, events: Iterable[Event], name: str = "part-0", *, explodes: bool = False
) -> list[Path]:
    """Write rankings and labels to a file for each hour of their times, and return the files."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for event in events:
        kind = "impressions" if isinstance(event, Ranking) else "clicks"
        found.setdefault((kind, event.time - event.time % HOUR), []).append(to_row(event))
    files = []
    for (kind, start), rows in found.items():
        hour = f"{to_datetime(start):date=%Y-%m-%d/hour=%H}"
        path = folder / kind / hour / f"{name}.parquet"
        if kind == "clicks":
            files.append(write_table(path, rows, LABELS))
        elif explodes:
            files.append(write_table(path, list(explode(rows)), EXPLODED))
        else:
            files.append(write_table(path, rows, RANKINGS))
    return files


def write_table(path: Path, rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> Path:
    """Write rows as a Parquet file, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path
