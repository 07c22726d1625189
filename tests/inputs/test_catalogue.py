"""Every entry of the catalogue, by every way in which it can reach the library."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache

import pytest
import rankscope as rs

from tests.inputs import file_entries, trec_entries
from tests.inputs.carriers import PACKINGS, pipe_of
from tests.inputs.entry import QRELS, QRELS_ROWS, RUN, RUN_ROWS, nested
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

TREC = (*trec_entries.JUDGMENTS, *trec_entries.RUNS)
TEXTS = ("", "csv", "tsv", "jsonl")
OBJECTS = {"rows": list, "generator": iter, "dict": nested}
BY_NAME = {"P1 under another name", "P1 as TREC"}
"""What only the name of a file says."""


def ways_of(entry):
    if entry.id in BY_NAME:
        yield "file"
        return
    if not entry.is_named:
        yield from (*PACKINGS, "pipe") if entry.form in TEXTS else ("file",)
    yield from ("named", "bytes") if entry.form else ("bytes", "command line", "standard input")
    for way, make in OBJECTS.items():
        if not entry.form and entry.rows is not None and make(entry.rows) is not None:
            yield way


CASES = [(entry, way) for entry in (*TREC, *file_entries.ENTRIES) for way in ways_of(entry)]
AS_TABLES = [
    (entry, way)
    for entry in TREC
    for way in WRITERS
    if tabled(entry.rows, entry.role, way) is not None
]


def evaluate(entry, odd, *, threads=1):
    """Evaluate with the entry in its role, and a plain input in the other."""
    return outcome_of(lambda: rs.evaluate(*pair_of(entry, odd), MEASURES, threads=threads))


def rank(entry, odd):
    """Do the same by rankings in memory."""
    return outcome_of(lambda: rs.Rankings.from_run(*pair_of(entry, odd)).evaluate(MEASURES))


def pair_of(entry, odd):
    qrels = QRELS_ROWS if entry.judged is None else entry.judged
    return (odd, list(RUN_ROWS)) if entry.role == "qrels" else (list(qrels), odd)


def command(entry, odd, folder):
    """Write the plain input, and give the words of the command line."""
    plain = folder / "plain"
    plain.write_bytes(RUN if entry.role == "qrels" else QRELS)
    pair = [odd, str(plain)] if entry.role == "qrels" else [str(plain), odd]
    return ["eval", *pair, "-m", ",".join(MEASURES)]


def check_places(entry, found, before=0):
    """Hold line and column against the entry, after so many other lines."""
    if entry.line is not None or not entry.form:
        assert found.line == (entry.line + before if entry.line else None), found
    assert entry.column in {None, found.column}, found


@pytest.mark.parametrize(("entry", "way"), CASES, ids=name_case)
def test_an_entry_has_one_verdict_by_every_way(entry, way, tmp_path, program):
    notes = set(entry.notes) - (ONLY_IN_TEXT if way in OBJECTS else set())
    for name, found in outcomes(entry, way, tmp_path, program):
        check(entry, found, values_of(entry), name)
        assert found.notes == notes
        if way not in OBJECTS:
            check_places(entry, found)


def outcomes(entry, way, folder, program):
    """Give an entry in one way to all that read it: what it must be called, and what came of it."""
    path = folder / (f"odd file.{entry.form}" if entry.form and way != "named" else "odd file")
    named = name_format(entry)
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
        if way in PACKINGS or way == "named":
            path.write_bytes(PACKINGS.get(way, bytes)(entry.text))
            yield str(path), judge(entry, named(path) if way == "named" else path)
        elif way == "pipe":
            with pipe_of([entry.text], folder) as pipe:
                yield str(pipe), judge(entry, named(pipe))
        elif way == "bytes":
            yield entry.role if entry.form else "<bytes>", judge(entry, named(entry.text))
        else:
            yield entry.role, judge(entry, OBJECTS[way](entry.rows))


def name_format(entry):
    """Return what names the format of a path or of bytes, unless it is TREC."""
    form = entry.form
    return lambda given: rs.File(given, form) if form else given


@pytest.mark.parametrize(("entry", "way"), AS_TABLES, ids=name_case)
def test_an_entry_has_one_verdict_as_a_table(entry, way):
    header = way in {"CSV", "TSV"}
    for judge in (evaluate, rank):
        found = judge(entry, tabled(entry.rows, entry.role, way))
        check(entry, found, values_of(entry), entry.role)
        assert found.notes == set(entry.notes) - ONLY_IN_TEXT
        if entry.line is not None:
            assert found.line == entry.line + header


def run_program(program, entry, path):
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
    line, column = (int(number) if number else None for number in found.group(2, 3))
    hint = hint.removeprefix("Hint: ")
    return Outcome(
        code=found[5], location=found[1], line=line, column=column, hint=hint, message=found[4]
    )


@pytest.mark.parametrize("size", [1 << 16, 100, 7])
@pytest.mark.parametrize(
    "entry",
    [
        entry
        for entry in file_entries.ENTRIES
        if entry.form in TEXTS and entry.id not in BY_NAME and len(entry.text) < 9999
    ],
    ids=name_case,
)
def test_how_a_text_is_cut_changes_no_verdict(entry, size, monkeypatch):
    monkeypatch.setattr("rankscope._inputs.text.BLOCK", size)
    found = evaluate(entry, name_format(entry)(entry.text))
    check(entry, found, values_of(entry), entry.role)
    check_places(entry, found)


@cache
def padding(role, name):
    """Give about 1 MB of regular lines of other queries, so that an input has many blocks."""
    line = "{0} 0 doc{1} 1\n" if role == "qrels" else "{0} Q0 doc{1} {1} -{1} t\n"
    rows = ((query, rank) for query in range(80) for rank in range(1, 501))
    return "".join(line.format(f"{name}{query}", rank) for query, rank in rows).encode()


@pytest.mark.parametrize(
    "entry", [entry for entry in TREC if entry.place != "alone"], ids=name_case
)
def test_size_and_threads_change_no_verdict_no_line_and_no_value(entry, tmp_path):
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
        check(entry, replace(found, by_query=of_entry), expected, str(path))
        check_places(entry, found, before.count(b"\n"))
        assert found.notes - allowed == set(entry.notes) - allowed
        if expected is not None:
            pads = found.by_query.keys() - expected.keys()
            assert len(pads) == (160 if entry.place == "anywhere" else 80) * (entry.role == "qrels")


@pytest.mark.parametrize(
    "entry",
    [entry for entry in TREC if not entry.code and entry.place == "anywhere"],
    ids=name_case,
)
def test_the_order_of_lines_changes_no_value(entry):
    texts = [line + b"\n" for line in entry.text.split(b"\n") if line]
    for shuffled in (sorted(texts), random.Random(5).sample(texts, len(texts))):
        assert evaluate(entry, b"".join(shuffled)).by_query == values_of(entry)
