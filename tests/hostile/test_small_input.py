"""What a small input costs grows with its size: not with its square, nor with a number in it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope._inputs.buckets import hide_secrets
from rankscope.engine.memory import read_size
from rankscope.errors import FormatError, MeasureError, UsageError
from rankscope.measures.parse import LONGEST_LIST, split_measures
from rankscope.monitor.client.http import Mismatches
from rankscope.monitor.events.bins import read_number
from rankscope.monitor.setup.file import KEY
from rankscope.trec_eval.catalog import entries_of
from rankscope.trec_eval.evaluating import FEW_RANKS
from rankscope.trec_eval.requests import read_parameters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankscope.errors import RankscopeError

LONG = 1_000_000
"""Squared, this many steps take hours."""
DIGITS = "1" * LONG + "x"
BLANKS = " " * LONG


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (read_number, DIGITS, None),
        (KEY.match, "a" * LONG, None),
        (hide_secrets, "?" * LONG, "?" * LONG),
        (lambda text: Mismatches().choose_new([text]), DIGITS, [DIGITS]),
        (lambda text: split_measures([text]), f"AP{BLANKS}RR", ["AP", "RR"]),
        (lambda text: split_measures([text]), f"AP{BLANKS}@{BLANKS}5", ["AP@5"]),
    ],
    ids=["bin", "key", "address", "message", "measure", "cutoff"],
)
def test_a_long_text_is_read_in_one_pass(
    read: Callable[[str], object], text: str, expected: object
) -> None:
    assert read(text) == expected


def read_cell(text: str) -> object:
    """Read a text as the score of a table."""
    table = f"query_id,doc_id,score\nq1,d1,{text}\n".encode()
    return rs.evaluate({"q1": {"d1": 1}}, rs.File(table, "csv"), "AP")


@pytest.mark.parametrize(
    ("read", "text", "error"),
    [
        (read_cell, DIGITS, FormatError),
        (read_cell, f"1{' ' * LONG}x", FormatError),
        (read_size, f"1{BLANKS}x", UsageError),
        (lambda text: read_parameters(entries_of("9")["set_F"], text), DIGITS, MeasureError),
    ],
    ids=["digits in a cell", "blanks in a cell", "memory", "parameter"],
)
def test_a_long_text_that_is_no_number_is_refused_in_one_pass(
    read: Callable[[str], object], text: str, error: type[RankscopeError]
) -> None:
    with pytest.raises(error) as refusal:
        read(text)
    assert len(refusal.value.message) < 500


def test_a_list_of_cutoffs_repeats_a_measure_until_the_names_are_long() -> None:
    stem = "x" * 2046 + "_"
    most = LONGEST_LIST // (len(stem) + 1)
    names = split_measures([stem + "1" + ",1" * (most + 2)])
    assert names == [stem + "1"] * (most + 1) + ["1", "1"]


def test_memory_of_any_size_is_read() -> None:
    assert read_size("9" * 400) == sys.maxsize
    assert read_size(f"{sys.maxsize // 2**20}MiB") <= sys.maxsize


def evaluate_with(kilobytes: int, *words: object) -> dict[str, str]:
    """Return what `rankscope trec_eval` prints in so much memory, by measure."""
    command = f'ulimit -v {kilobytes}; exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", command, "sh", sys.executable, "-m", "rankscope", "trec_eval"]
        + [str(word) for word in words],
        # Each thread would reserve memory.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return {name.strip(): value for name, _, value in lines}


needs_limit = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems don't limit the address space"
)


@needs_limit
@pytest.mark.parametrize("documents", [1, FEW_RANKS - 1, FEW_RANKS, FEW_RANKS + 1, 3 * FEW_RANKS])
def test_relstring_takes_memory_for_the_list_only(documents: int, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"q 0 d{rank} {rank % 10}\n" for rank in range(9)))
    lines = [f"q Q0 d{rank} 1 {-rank} t\n" for rank in range(documents)]
    (tmp_path / "run").write_text("".join(lines))
    text = "012345678"[:documents] + "-" * (documents - 9)
    for length in (documents - 1, documents, documents + 1, 10**15):
        words = ["-q", "-m", f"relstring.{length}", tmp_path / "qrels", tmp_path / "run"]
        assert evaluate_with(400 << 10, *words) == {f"relstring_{length}": f"'{text[:length]}'"}


DOCUMENTS, RETRIEVED = 3000, 1500
ALL = DOCUMENTS * (DOCUMENTS - 1) // 2
FULFILLED = RETRIEVED * (RETRIEVED - 1) // 2 + RETRIEVED * (DOCUMENTS - RETRIEVED)
PREFERENCES = {
    # A level for each document.
    "levels": ([f"u s d{n} {DOCUMENTS - n}" for n in range(DOCUMENTS)], ALL, FULFILLED),
    # Each document is compared with the next one, and what follows counts.
    "subgroups": (
        [f"u s{n} d{n + below} {2 - below}" for n in range(DOCUMENTS - 1) for below in (0, 1)],
        ALL,
        FULFILLED,
    ),
    # Each group compares two documents.
    "groups": (
        [f"u{n // 2} s d{n} {2 - n % 2}" for n in range(DOCUMENTS)],
        DOCUMENTS // 2,
        RETRIEVED // 2,
    ),
}


@needs_limit
@pytest.mark.parametrize("form", PREFERENCES)
def test_preferences_take_no_table_of_all_documents_for_each_level_and_group(
    form: str, tmp_path: Path
) -> None:
    lines, possible, fulfilled = PREFERENCES[form]
    (tmp_path / "prefs").write_text("".join(f"q {line}\n" for line in lines))
    run = [f"q Q0 d{number} 1 {-number} t\n" for number in range(RETRIEVED)]
    (tmp_path / "run").write_text("".join(run))
    words = ["-n", "-q", "-R", "prefs", "-m", "all_prefs", tmp_path / "prefs", tmp_path / "run"]
    found = evaluate_with(400 << 10, *words)
    assert int(found["prefs_num_prefs_poss"]) == possible
    assert int(found["prefs_num_prefs_ful"]) == fulfilled
    assert found["prefs_pair"] == f"{fulfilled / possible:.4f}"
