"""Writes a log of rankings and labels: a folder for each hour, with a file of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime

from dev.load.searches import CATALOGUE, COUNTRIES, DEVICES, NAMES, START

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

DOCUMENTS = 10
LABELS = 0.3
"""Labels for each ranking."""
LATE = 0.1
"""The share of labels that come at any time of the attribution window, not minutes after."""
WINDOW = DAY
HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype="<u2")


def write_log(folder: Path, rankings: int, hours: int) -> None:
    """Write rankings and their labels, by hour.

    Args:
        folder: Where it is written.
        rankings: How many rankings it has.
        hours: In how many hours they are.
    """
    waiting = Labels()
    for hour in range(hours):
        random = np.random.default_rng(hour)
        count = rankings * (hour + 1) // hours - rankings * hour // hours
        times = START + hour * HOUR + np.sort(random.integers(0, HOUR, count))
        ids = random.integers(0, 2**63, (count, 2)).view(np.uint8)
        steps = random.integers(1, CATALOGUE, (count, 1))
        popular = (CATALOGUE * random.random((count, 1)) ** 3).astype(np.int64)
        documents = (popular + np.arange(DOCUMENTS) * steps) % CATALOGUE
        _write(folder, "impressions", hour, _list_rankings(ids, times, documents))
        chosen = np.flatnonzero(random.random(count) < LABELS)
        is_late = random.random(len(chosen)) < LATE
        delays = np.where(
            is_late,
            random.integers(0, WINDOW, len(chosen)),
            random.exponential(5 * MINUTE, len(chosen)).astype(np.int64),
        )
        ranks = np.minimum(random.geometric(0.3, len(chosen)), DOCUMENTS) - 1
        waiting = waiting.add(ids[chosen], documents[chosen, ranks], times[chosen] + delays)
        now, waiting = waiting.split(START + (hour + 1) * HOUR)
        _write(folder, "clicks", hour, now.list())


class Labels(NamedTuple):
    """Labels: the ids of rankings, the documents, and the times."""

    ids: NDArray[Any] = np.zeros((0, 16), dtype=np.uint8)
    documents: NDArray[Any] = np.zeros(0, dtype=np.int64)
    times: NDArray[Any] = np.zeros(0, dtype=np.int64)

    def add(self, *columns: NDArray[Any]) -> Labels:
        """Return these labels and more."""
        return Labels(*(np.concatenate(both) for both in zip(self, columns, strict=True)))

    def split(self, until: int) -> tuple[Labels, Labels]:
        """Return those that come before a time, in order, and the others."""
        order = np.argsort(self.times, kind="stable")
        end = int(np.searchsorted(self.times[order], until))
        return (
            Labels(*(column[order[:end]] for column in self)),
            Labels(*(column[order[end:]] for column in self)),
        )

    def list(self) -> Foreign:
        """Return them as a table."""
        return pa.table(
            {
                "ranking_id": _write_ids(self.ids),
                "doc_id": _name(NAMES, self.documents),
                "label": _name(["click"], np.zeros(len(self.times), dtype=np.int64)),
                "time": _stamp(self.times),
            }
        )


def _list_rankings(
    ids: NDArray[np.uint8], times: NDArray[np.int64], documents: NDArray[np.int64]
) -> Foreign:
    """Return rankings as a table."""
    count = len(times)
    common = np.frombuffer(ids.tobytes(), dtype="<u8").reshape(count, 2)[:, 0]
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * DOCUMENTS)
    return pa.table(
        {
            "ranking_id": _write_ids(ids),
            "time": _stamp(times),
            "query_key": _name([f"query {number}" for number in range(5000)], common % 5000),
            "version": _name(["1"], np.zeros(count, dtype=np.int64)),
            "country": _name(COUNTRIES, common // 7 % len(COUNTRIES)),
            "device": _name(DEVICES, common // 91 % len(DEVICES)),
            "doc_ids": pa.ListArray.from_arrays(offsets, _name(NAMES, documents.reshape(-1))),
        }
    )


def _write_ids(ids: NDArray[np.uint8]) -> Foreign:
    """Return ids as texts of 32 digits."""
    offsets = np.arange(len(ids) + 1, dtype=np.int32) * 32
    return pa.StringArray.from_buffers(
        len(ids), pa.py_buffer(offsets), pa.py_buffer(HEX[ids.reshape(-1)].tobytes())
    )


def _name(names: Any, codes: NDArray[Any]) -> Foreign:  # noqa: ANN401 - any sequence of texts
    return pa.array(names).take(pa.array(codes.astype(np.int64)))


def _stamp(times: NDArray[np.int64]) -> Foreign:
    return pa.array(times).cast(pa.timestamp("us", "UTC"))


def _write(folder: Path, kind: str, hour: int, table: Foreign) -> None:
    place = f"{to_datetime(START + hour * HOUR):date=%Y-%m-%d/hour=%H}"
    path = folder / kind / place / "part-0.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")
