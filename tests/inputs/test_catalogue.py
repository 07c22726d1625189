"""Every entry of the catalogue, by every way in which it can reach the library."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.inputs import qrels_entries, run_entries
from tests.inputs.carriers import PACKINGS, pipe_of
from tests.inputs.entry import QRELS, RUN, nested
from tests.inputs.outcome import (
    MEASURES,
    ONLY_IN_TEXT,
    Outcome,
    check,
    name_case,
    outcome_of,
    outcome_of_json,
    values_of,
)
from tests.inputs.tabled import WRITERS, tabled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.inputs.entry import Entry, Row
    from tests.program import Program

ENTRIES = (*qrels_entries.ENTRIES, *run_entries.ENTRIES)
ACCEPTED = [entry for entry in ENTRIES if not entry.code]
IN_TEXT = ("file", "gzip", "zstd", "bzip2", "pipe", "bytes", "command line", "standard input")
AS_OBJECTS = ("rows", "generator", "dict")
CASES = [(entry, way) for entry in ENTRIES for way in IN_TEXT] + [
    (entry, way)
    for entry in ENTRIES
    for way in AS_OBJECTS
    if entry.rows is not None and (way != "dict" or nested(entry.rows) is not None)
]
AS_TABLES = [
    (entry, way)
    for entry in ENTRIES
    for way in WRITERS
    if tabled(entry.rows, entry.role, way) is not None
]


def evaluate(entry: Entry, odd: object, *, threads: int | None = 1) -> Outcome:
    """Evaluate with the entry in its role, and a plain input in the other."""
    qrels, run = (odd, RUN) if entry.role == "qrels" else (QRELS, odd)
    return outcome_of(lambda: rs.evaluate(qrels, run, MEASURES, threads=threads))  # type: ignore[arg-type]


def rank(entry: Entry, odd: object) -> Outcome:
    """Do the same by rankings in memory."""
    pair = (odd, RUN) if entry.role == "qrels" else (QRELS, odd)
    return outcome_of(lambda: rs.Rankings.from_run(*pair).evaluate(MEASURES))


def command(entry: Entry, odd: str, folder: Path) -> list[str]:
    """Write the plain input, and give the words of the command line."""
    plain = folder / "plain"
    plain.write_bytes(RUN if entry.role == "qrels" else QRELS)
    pair = [odd, str(plain)] if entry.role == "qrels" else [str(plain), odd]
    return ["eval", *pair, "-m", ",".join(MEASURES)]


def check_places(entry: Entry, found: Outcome, before: int = 0) -> None:
    """Hold line and column against the entry, after so many other lines."""
    assert found.line == (entry.line + before if entry.line else None), found
    assert entry.column in {None, found.column}, found


@pytest.mark.parametrize(("entry", "way"), CASES, ids=name_case)
def test_an_entry_has_one_verdict_by_every_way(
    entry: Entry, way: str, tmp_path: Path, program: Program
) -> None:
    is_text = way in IN_TEXT
    notes = set(entry.notes) - (set() if is_text else ONLY_IN_TEXT)
    for name, found in outcomes(entry, way, tmp_path, program):
        check(entry, found, values_of(entry), name)
        assert found.notes == notes
        if is_text:
            check_places(entry, found)


def outcomes(
    entry: Entry, way: str, folder: Path, program: Program
) -> Iterator[tuple[str, Outcome]]:
    """Give an entry in one way to all that read it: what it must be called, and what came of it."""
    path = folder / "odd file"
    if way == "command line":
        path.write_bytes(entry.text)
        yield str(path), run_program(program, entry, path)
        return
    if way == "standard input":
        words = command(entry, "-", folder)
        done = program.run(*words, "--json", "-q", given=entry.text)
        yield "<stdin>", outcome_of_json(done)
        return
    for judge in (evaluate, rank):
        if way in PACKINGS:
            path.write_bytes(PACKINGS[way](entry.text))
            yield str(path), judge(entry, path)
        elif way == "pipe":
            with pipe_of([entry.text], folder) as pipe:
                yield str(pipe), judge(entry, pipe)
        elif way == "bytes":
            yield "<bytes>", judge(entry, entry.text)
        else:
            assert entry.rows is not None
            yield entry.role, judge(entry, FORMS[way](entry.rows))


@pytest.mark.parametrize(("entry", "way"), AS_TABLES, ids=name_case)
def test_an_entry_has_one_verdict_as_a_table(entry: Entry, way: str) -> None:
    """G6."""
    header = way in {"CSV", "TSV"}
    for judge in (evaluate, rank):
        found = judge(entry, tabled(entry.rows, entry.role, way))
        check(entry, found, values_of(entry), entry.role)
        assert found.notes == set(entry.notes) - ONLY_IN_TEXT
        if entry.line is not None:
            assert found.line == entry.line + header


FORMS: dict[str, Callable[[tuple[Row, ...]], object]] = {
    "rows": list,
    "generator": iter,
    "dict": nested,
}


def run_program(program: Program, entry: Entry, path: Path) -> Outcome:
    """Run the program on a path: as for a person where an error is expected."""
    words = command(entry, str(path), path.parent)
    if not entry.code:
        return outcome_of_json(program.run(*words, "--json", "-q"))
    done = program.run(*words)
    assert done.returncode == 3, done
    assert done.stdout == b""
    said, hint = done.stderr.decode().splitlines()
    found = re.fullmatch(r"rankscope: error: (\S.*?)(?::(\d+))?(?::(\d+))?: (.*) \[(\w+)\]", said)
    assert found is not None, said
    assert hint.startswith("Hint: ")
    line, column = (int(number) if number else None for number in found.group(2, 3))
    return Outcome(
        code=found[5],
        location=found[1],
        line=line,
        column=column,
        hint=hint.removeprefix("Hint: "),
        message=found[4],
    )


@cache
def padding(role: str, name: str) -> bytes:
    """Give about 1 MB of regular lines of other queries, so that an input has many blocks."""
    rows = ((query, rank) for query in range(80) for rank in range(1, 501))
    if role == "qrels":
        texts = [f"{name}{query} 0 doc{rank} 1" for query, rank in rows]
    else:
        texts = [f"{name}{query} Q0 doc{rank} {rank} {-rank} t" for query, rank in rows]
    return "\n".join([*texts, ""]).encode()


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.place != "alone"], ids=name_case
)
def test_size_and_threads_change_no_verdict_no_line_and_no_value(
    entry: Entry, tmp_path: Path
) -> None:
    before = padding(entry.role, "before") if entry.place != "first" else b""
    after = padding(entry.role, "after") if entry.place != "last" else b""
    end = b"" if entry.place == "last" or entry.text.endswith(b"\n") else b"\n"
    path = tmp_path / "odd file"
    path.write_bytes(before + entry.text + end + after)
    expected = values_of(entry)
    allowed = {"n_missing"} if entry.role == "qrels" else {"n_run_only"}
    for threads in (1, 2, 7):
        found = evaluate(entry, path, threads=threads)
        of_entry = {query: found.by_query[query] for query in expected or () if found.by_query}
        kept = Outcome(
            of_entry,
            code=found.code,
            location=found.location,
            hint=found.hint,
            message=found.message,
        )
        check(entry, kept, expected, str(path))
        check_places(entry, found, before.count(b"\n"))
        assert found.notes - allowed == set(entry.notes) - allowed
        if expected is not None:
            pads = {query: row for query, row in found.by_query.items() if query not in expected}
            assert len(pads) == (160 if entry.place == "anywhere" else 80) * (entry.role == "qrels")


@pytest.mark.parametrize(
    "entry", [entry for entry in ACCEPTED if entry.place == "anywhere"], ids=name_case
)
def test_the_order_of_lines_changes_no_value(entry: Entry) -> None:
    texts = [line + b"\n" for line in entry.text.split(b"\n") if line]
    print("seed 5")  # noqa: T201 - to run a failure again
    for shuffled in (sorted(texts), random.Random(5).sample(texts, len(texts))):
        assert evaluate(entry, b"".join(shuffled)).by_query == values_of(entry)
