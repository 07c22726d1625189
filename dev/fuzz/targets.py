"""What each target does with the bytes of the fuzzer: read them, or refuse them with an error.

Whatever else is raised is a finding, and so is a crash of the process. The seeds of a target are in
the folder of its name in `fuzz/seeds`; `tests/hostile/test_readers.py` reads them all.
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import rankscope as rs
from rankscope._cli import main
from rankscope._compare.gate.command import read_gate_file
from rankscope.errors import RankscopeError
from rankscope.measures.parse import read_measure
from rankscope.monitor.events.decoding import EventDecoder
from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.notify.channels import read_channels

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope._file import Format

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds"
NOW = 20_000 * DAY
ENVIRONMENT = {"TOKEN": "a/b/c", "EMPTY": ""}
MOST_WORDS = 20
FOLDER = Path(tempfile.mkdtemp(prefix="rankscope-fuzz-"))
"""Where the files are that have to be on a disk."""
QRELS, RUN = str(FOLDER / "qrels"), str(FOLDER / "run")


def _table(form: Format) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        file = rs.File(data, form)
        qrels = {"q1": {"d1": 1, "d2": 0}}
        for call in (
            lambda: rs.evaluate(file, ["RR", "nDCG@10"], threads=1),
            lambda: rs.read_qrels(file),
            lambda: rs.evaluate(qrels, file, ["RR", "AP"], threads=1),
        ):
            with suppress(RankscopeError):
                call()

    return read


def _letor(data: bytes) -> None:
    with suppress(RankscopeError):
        rs.read_letor(data)
    _table("letor")(data)


def _events(data: bytes) -> None:
    """Both the compiled decoder and the reader in Python see the bytes."""
    reader, parser = EventReader(), EventJSON()
    decoder = EventDecoder(reader)
    for kind in ("rankings", "labels"):
        for is_lines in (False, True):
            decoder.decode_body(data, kind, is_lines=is_lines, most=1000, now=NOW)
    with suppress(RankscopeError, RefusedError):
        found = parser.load(data)
        objects = [parser.settle(one) for one in (found if isinstance(found, list) else [found])]
        reader.read_rankings(objects, now=NOW)
        reader.read_labels(objects, now=NOW)


def _gate(data: bytes) -> None:
    with suppress(RankscopeError):
        read_gate_file(_write("gate.toml", data))


def _channels(data: bytes) -> None:
    with suppress(RankscopeError):
        read_channels(_write("channels.toml", data), ENVIRONMENT)


def _measures(data: bytes) -> None:
    """What is read has a name that is read as the same measure."""
    text = data.decode("utf-8", "surrogateescape")
    with suppress(RankscopeError):
        measure = read_measure(text)
        assert read_measure(str(measure)) == measure, str(measure)


def _trec_eval(data: bytes) -> None:
    """Words are one a line."""
    words = data.decode("utf-8", "surrogateescape").split("\n")[:MOST_WORDS]
    _write("qrels", b"q1 0 d1 1\nq1 0 d2 -1\nq2 0 d1 2\n")
    _write("run", b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d9 1 1.0 t\n")
    out, error = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(error), suppress(SystemExit):
        main(["trec_eval", *words, QRELS, RUN])


def _write(name: str, data: bytes) -> str:
    path = FOLDER / name
    path.write_bytes(data)
    return os.fspath(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "arrow": _table("arrow"),
    "channels": _channels,
    "csv": _table("csv"),
    "gate": _gate,
    "json_events": _events,
    "jsonl": _table("jsonl"),
    "letor": _letor,
    "measures": _measures,
    "parquet": _table("parquet"),
    "trec_eval": _trec_eval,
}
