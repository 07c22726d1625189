"""Every entry of the catalogue about tables in files, by every way in which a file can come."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope._inputs.files import blocks

from tests.inputs.carriers import PACKINGS, pipe_of
from tests.inputs.entry import QRELS_ROWS, RUN_ROWS
from tests.inputs.file_entries import ENTRIES
from tests.inputs.outcome import MEASURES, Outcome, check, name_case, outcome_of, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.inputs.entry import Entry

TEXTS = ("csv", "tsv", "jsonl")
PACKED = [packing for packing in PACKINGS if packing != "file"]
BY_NAME = {"P1 under another name", "P1 as TREC"}
"""What only the name of a file says."""


def ways_of(entry: Entry) -> tuple[str, ...]:
    if entry.id in BY_NAME:
        return ("file",)
    in_pipes = (*PACKED, "pipe") if entry.form in TEXTS else ()
    return (*(() if entry.is_named else ("file", *in_pipes)), "named", "bytes")


CASES = [(entry, way) for entry in ENTRIES for way in ways_of(entry)]


def evaluate(entry: Entry, odd: object) -> Outcome:
    """Evaluate with the entry in its role, and a plain input in the other."""
    return outcome_of(lambda: rs.evaluate(*pair_of(entry, odd), MEASURES))


def rank(entry: Entry, odd: object) -> Outcome:
    """Do the same by rankings in memory."""
    return outcome_of(lambda: rs.Rankings.from_run(*pair_of(entry, odd)).evaluate(MEASURES))


def pair_of(entry: Entry, odd: object) -> tuple[Any, Any]:
    qrels = list(QRELS_ROWS if entry.judged is None else entry.judged)
    return (odd, list(RUN_ROWS)) if entry.role == "qrels" else (qrels, odd)


def check_all(entry: Entry, found: Outcome, name: str) -> None:
    check(entry, found, values_of(entry), name)
    assert found.notes == set(entry.notes)
    assert entry.line in {None, found.line}, found
    assert entry.column in {None, found.column}, found


@pytest.mark.parametrize(("entry", "way"), CASES, ids=name_case)
def test_an_entry_has_one_verdict_by_every_way(entry: Entry, way: str, tmp_path: Path) -> None:
    for judge in (evaluate, rank):
        with odd_input(entry, way, tmp_path) as (name, odd):
            check_all(entry, judge(entry, odd), name)


@contextmanager
def odd_input(entry: Entry, way: str, folder: Path) -> Iterator[tuple[str, object]]:
    """Return an entry in one way: what it must be called, and itself."""
    if way == "bytes":
        yield entry.role, rs.File(entry.text, entry.form)  # type: ignore[arg-type]
        return
    if way == "pipe":
        with pipe_of([entry.text], folder) as pipe:
            yield str(pipe), rs.File(pipe, entry.form)  # type: ignore[arg-type]
        return
    path = folder / (f"odd file.{entry.form}" if entry.form and way != "named" else "odd file")
    path.write_bytes(PACKINGS.get(way, bytes)(entry.text))
    yield str(path), rs.File(path, entry.form) if way == "named" else path  # type: ignore[arg-type]


SHORT = [
    entry
    for entry in ENTRIES
    if entry.form in TEXTS and entry.id not in BY_NAME and len(entry.text) < 9999
]


@pytest.mark.parametrize("size", [1 << 16, 100, 7])
@pytest.mark.parametrize("entry", SHORT, ids=name_case)
def test_how_a_text_is_cut_changes_no_verdict(
    entry: Entry, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G7."""
    monkeypatch.setattr(blocks, "BLOCK", size)
    check_all(entry, evaluate(entry, rs.File(entry.text, entry.form)), entry.role)  # type: ignore[arg-type]
