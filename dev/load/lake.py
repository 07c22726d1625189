"""Monitors a generated data lake in place: `python -m dev.load.lake [--rankings COUNT]`.

The lake has a folder for each hour, with a file of rankings and one of labels. It is written
without its last hour, and evaluated; then the last hour is added, and evaluated. Both runs are
those of `rankscope monitor run`, each a process of its own, whose seconds and memory are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import format_time, to_datetime

from dev.load.processes import SERVE, UNIT, watch_memory
from dev.load.searches import CATALOGUE, COUNTRIES, DEVICES, NAMES, START

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

RANKINGS = 20_000_000
HOURS = 480
DOCUMENTS = 10
LABELS = 0.3
"""Labels for each ranking."""
LATE = 0.1
"""The share of labels that come at any time of the attribution window, not minutes after."""
WINDOW = DAY
WAITING = "_waiting"
"""Where the last hour is before it is part of the lake: names that begin with `_` are left out."""
HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype="<u2")


class Run(NamedTuple):
    """What a run took: seconds, those of all cores, the bytes of its processes, what it printed."""

    seconds: float
    processor: float
    peak: int
    said: dict[str, Any]


def write_lake(folder: Path, rankings: int, hours: int) -> None:
    """Write a lake whose last hour is in folders of its own.

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
        _write(
            folder, "impressions", hour, hour == hours - 1, _list_rankings(ids, times, documents)
        )
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
        _write(folder, "clicks", hour, hour == hours - 1, now.list())


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


def _write(folder: Path, kind: str, hour: int, is_last: bool, table: Foreign) -> None:
    place = f"{to_datetime(START + hour * HOUR):date=%Y-%m-%d/hour=%H}"
    path = folder / kind / (WAITING if is_last else "") / place / "part-0.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def _release(folder: Path) -> None:
    """Make the last hour part of the lake."""
    for kind in ("impressions", "clicks"):
        for path in (folder / kind / WAITING).rglob("*.parquet"):
            target = folder / kind / path.relative_to(folder / kind / WAITING)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)


def run(folder: Path, store: str, now: int, *options: str) -> Run:
    """Run `rankscope monitor run` on a lake, and measure it."""
    arguments = [
        *("monitor", "run", "--store", store, "--rankings", f"{folder}/impressions"),
        *("--labels", f"{folder}/clicks", "--as-of", format_time(now), "--json", *options),
    ]
    said = folder / "said.json"
    begin = time.perf_counter()
    command = [sys.executable, "-c", SERVE, *arguments]
    with said.open("wb") as output, subprocess.Popen(command, stdout=output) as process:
        with watch_memory(process.pid) as seen:
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise SystemExit(f"rankscope monitor run failed with status {process.returncode}")
    processor = used.ru_utime + used.ru_stime
    peak = seen[0] or used.ru_maxrss * UNIT
    return Run(seconds, processor, peak, json.loads(said.read_text()))


def _configure(store: str) -> None:
    arguments = [
        *("monitor", "configure", store, "--positive", "click=1", "--window", "24h"),
        *("--slice", "country", "device", "--measures", "nDCG@1", "nDCG@5", "nDCG@10"),
    ]
    subprocess.run([sys.executable, "-c", SERVE, *arguments], check=True, stdout=subprocess.DEVNULL)


def _tell(name: str, found: Run) -> None:
    scan = {key: found.said[key] for key in ("new", "hours", "rankings")}
    print(
        f"{name}: {found.seconds:.1f} s, {found.processor:.1f} s of the processor, "
        f"{found.peak / 1e6:.0f} MB, {json.dumps(scan)}",
        flush=True,
    )


def main() -> None:
    """Write a lake, evaluate it, then one more hour, and print what both took."""
    parser = argparse.ArgumentParser(prog="python -m dev.load.lake", description=__doc__)
    parser.add_argument("--rankings", type=int, default=RANKINGS)
    parser.add_argument("--hours", type=int, default=HOURS)
    parser.add_argument("--folder", type=Path, help="a folder where the lake stays, or is already")
    parser.add_argument("--store", help="an empty store, such as postgresql:///NAME")
    parser.add_argument("--only-write", action="store_true", help="write the lake, and stop")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rankscope-lake-") as temporary:
        folder = options.folder or Path(temporary)
        begin = time.perf_counter()
        if not (folder / "impressions").exists():
            write_lake(folder, options.rankings, options.hours)
        if options.only_write:
            return
        size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        written = time.perf_counter() - begin
        print(f"written: {written:.1f} s, {size / options.rankings:.0f} bytes a ranking")
        store = options.store or str(folder / "store.db")
        _configure(store)
        end = START + options.hours * HOUR
        _tell("first run", run(folder, store, end - HOUR + 5 * MINUTE))
        _release(folder)
        _tell("new hour", run(folder, store, end + 5 * MINUTE))
        _tell("nothing new", run(folder, store, end + 6 * MINUTE))


if __name__ == "__main__":
    main()
