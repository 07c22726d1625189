"""What a small input costs grows with its size: not with its square, nor with a number in it."""

from __future__ import annotations

import decimal
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import example, given
from hypothesis import strategies as st
from rankscope._compare.gate.command import read_gate_file
from rankscope._evaluate.runs import read_size
from rankscope._inputs.remote import hide_secrets
from rankscope._trec_eval.evaluating import FEW_RANKS
from rankscope._trec_eval.requests import entries_of, read_parameters
from rankscope.errors import FormatError, InputError, MeasureError, UsageError
from rankscope.measures.parse import LONGEST_LIST, split_measures
from rankscope.monitor.client.http import Mismatches
from rankscope.monitor.events.bins import read_number
from rankscope.monitor.notify.channels import MOST_URL, read_channels
from rankscope.monitor.setup.file import KEY
from rankscope.monitor.toml_file import read_toml

from tests.cli.command import check_error, run

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
def test_a_long_text_is_read_in_one_pass(read, text, expected):
    assert read(text) == expected


def read_cell(text):
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
def test_a_long_text_that_is_no_number_is_refused_in_one_pass(read, text, error):
    with pytest.raises(error) as refusal:
        read(text)
    assert len(refusal.value.message) < 500


def test_a_list_of_cutoffs_repeats_a_measure_until_the_names_are_long():
    stem = "x" * 2046 + "_"
    most = LONGEST_LIST // (len(stem) + 1)
    names = split_measures([stem + "1" + ",1" * (most + 2)])
    assert names == [stem + "1"] * (most + 1) + ["1", "1"]


def test_memory_of_any_size_is_read():
    assert read_size("9" * 400) == sys.maxsize
    assert read_size(f"{sys.maxsize // 2**20}MiB") <= sys.maxsize


def evaluate_with(kilobytes, *words):
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
def test_relstring_takes_memory_for_the_list_only(documents, tmp_path):
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
def test_preferences_take_no_table_of_all_documents_for_each_level_and_group(form, tmp_path):
    lines, possible, fulfilled = PREFERENCES[form]
    (tmp_path / "prefs").write_text("".join(f"q {line}\n" for line in lines))
    run = [f"q Q0 d{number} 1 {-number} t\n" for number in range(RETRIEVED)]
    (tmp_path / "run").write_text("".join(run))
    words = ["-n", "-q", "-R", "prefs", "-m", "all_prefs", tmp_path / "prefs", tmp_path / "run"]
    found = evaluate_with(400 << 10, *words)
    assert int(found["prefs_num_prefs_poss"]) == possible
    assert int(found["prefs_num_prefs_ful"]) == fulfilled
    assert found["prefs_pair"] == f"{fulfilled / possible:.4f}"


RUN = {"q": {"a": 2.0, "b": 1.0}}


REST = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}


def read_dict(number):
    return rs.evaluate({"q": {"a": number, "b": 1}}, RUN, "DCG")["DCG"]


def read_list(number):
    return float(rs.dcg([number, 1]))


def read_frame(number):
    return of_table(pd.DataFrame({"relevance": [number, Decimal(1)]} | REST))


def of_table(table):
    return rs.Rankings.from_table(table).evaluate("DCG")["DCG"]


WAYS = (
    read_dict,
    read_list,
    read_frame,
    lambda number: rs.evaluate([("q", "a", number), ("q", "b", 1)], RUN, "DCG")["DCG"],
    lambda number: of_table({"relevance": [number, 1]} | REST),
    lambda number: float(rs.dcg([[number, 1]])[0]),
    lambda number: float(rs.dcg(np.array([number, 1], dtype=object))),
)


def verdict(read, number):
    """The value, or the code of the error."""
    try:
        return read(number)
    except InputError as error:
        return error.code


FINITE = st.decimals(allow_nan=False, allow_infinity=False)


@given(FINITE)
@example(Decimal("0.1"))
@example(Decimal("0.30000000000000004"))
@example(Decimal("0.12345678901234567890"))
@example(Decimal(2**53 + 1))
@example(Decimal(2**70))
@example(Decimal("-0"))
@example(Decimal("1E+400"))
@example(Decimal("1E-400"))
@example(Decimal("1E+999999"))
@example(Decimal("9" * 10_000))
def test_a_decimal_is_read_as_its_text_or_refused_everywhere(number):
    found = {verdict(read, number) for read in WAYS}
    double = float(number)
    if double in {float("inf"), float("-inf")}:
        assert found == {"rel_out_of_range"}
    elif number in (double, Decimal(repr(double))):
        plain = verdict(read_dict, double)
        assert found == {plain}
        text = verdict(lambda _: read_text(number), number)
        assert text in {plain, "rel_not_number"}  # a file takes no 10,000 digits
    else:
        assert found == {"inexact_number"}


def read_text(number):
    """Evaluate judgments that are text."""
    qrels = f"q 0 a {number:f}\nq 0 b 1\n".encode() if abs(number) < 10**20 else b"q 0 a x\n"
    return rs.evaluate(qrels, RUN, "DCG")["DCG"]


@given(st.lists(FINITE, min_size=1, max_size=20).filter(lambda some: len(set(some)) == len(some)))
def test_scores_of_decimals_rank_as_their_doubles(scores):
    names = [f"d{at}" for at in range(len(scores))]
    decimals = dict(zip(names, scores, strict=True))
    qrels = {"q": {name: at % 3 for at, name in enumerate(names)}}
    doubles = {name: float(score) for name, score in decimals.items()}

    def evaluate(run):
        return rs.evaluate(qrels, {"q": run}, "nDCG")["nDCG"]

    found = verdict(lambda _: evaluate(decimals), None)
    assert found in {verdict(lambda _: evaluate(doubles), None), "inexact_number"}


@pytest.mark.parametrize("number", [Decimal("NaN"), Decimal("sNaN"), Decimal("-NaN123")])
def test_a_decimal_that_is_no_number_is_an_unjudged_grade_where_nan_is(number):
    for read in WAYS:
        if read is not read_frame:
            assert verdict(read, number) == verdict(read, float("nan"))


@pytest.mark.parametrize("number", ["0.5", "0.1", "123.456", str(2**60)])
def test_columns_of_decimals_have_the_same_verdict(number):
    wide = pa.decimal128(38, 6)
    expected = verdict(read_dict, Decimal(number))
    columns = {
        "arrow": pa.array([Decimal(number), Decimal(1)], wide),
        "polars": pl.Series([Decimal(number), Decimal(1)], dtype=pl.Decimal(38, 6)),
    }
    for column in columns.values():
        assert verdict(lambda given: of_table({"relevance": given} | REST), column) == expected


def test_the_context_of_the_caller_changes_nothing():
    """A user may have asked `decimal` for little precision, and to raise whatever it rounds."""
    with decimal.localcontext() as context:
        context.prec = 2
        for signal in context.traps:
            context.traps[signal] = True
        assert verdict(read_dict, Decimal("0.1")) == verdict(read_dict, 0.1)
        assert verdict(read_list, Decimal("0.12345678901234567890")) == "inexact_number"
        assert verdict(read_list, Decimal("sNaN")) == verdict(read_list, float("nan"))


class Own(Decimal):
    """A decimal of another class."""


def test_decimals_of_another_class_are_decimals():
    for read in WAYS:
        assert verdict(read, Own("0.25")) == verdict(read, 0.25)


@pytest.mark.parametrize("option", ["-M", "-l", "-N"])
def test_a_count_has_so_many_digits_and_not_one_more(option, files):
    inputs = str(files / "qrels"), str(files / "run")
    for digits in (17, 18):
        assert run("trec_eval", option, "9" * digits, *inputs).returncode == 0
    for digits in (19, 20, 5000):
        said = check_error(run("trec_eval", option, "9" * digits, *inputs), 1, "usage")
        assert f"of at most 18 digits, for {option}, found '99" in said


def test_zeros_in_front_of_a_count_are_no_digits_of_it(files):
    inputs = str(files / "qrels"), str(files / "run")
    assert run("trec_eval", "-M", "0" * 5000 + "1", *inputs).stdout == (
        run("trec_eval", "-M", "1", *inputs).stdout
    )


MOST_BYTES = 256 * 1024
MOST_DOTS = 100

READERS = {
    "gate": read_gate_file,
    "channels": lambda path: read_channels(path, {"A": "x" * 100_000, "B": "b"}),
}
GOOD = {
    "gate": "[[budget]]\nmeasure = 'AP'\nmin = 0.5\n",
    "channels": "[channels.oncall]\nurl = 'slack://a/b/c'\n",
}


def outcome(reader, path, text):
    """The message of the refusal, or an empty text."""
    path.write_text(text)
    try:
        READERS[reader](path)
    except rs.errors.FormatError as error:
        return error.message if error.file == str(path) and error.hint else repr(error)
    return ""


@pytest.mark.parametrize("reader", READERS)
def test_a_file_may_have_so_many_bytes_and_not_one_more(reader, tmp_path):
    whole = GOOD[reader] + "#" * (MOST_BYTES - len(GOOD[reader]))
    assert outcome(reader, tmp_path / "a.toml", whole) == ""
    expected = f"expected at most {MOST_BYTES // 1024} KiB, found more"
    assert outcome(reader, tmp_path / "a.toml", whole + "#") == expected


@pytest.mark.parametrize("reader", READERS)
def test_a_line_may_have_so_many_dots_and_not_one_more(reader, tmp_path):
    dots = GOOD[reader] + "#" + "." * MOST_DOTS
    assert outcome(reader, tmp_path / "a.toml", dots) == ""
    expected = f"expected at most {MOST_DOTS} dots in a line, found more"
    assert outcome(reader, tmp_path / "a.toml", dots + ".") == expected


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "key",
    [
        ".".join(["a"] * 20_000) + " = 1",
        "[" + ".".join(["a"] * 20_000) + "]\n" + "b = 1\n" * 20_000,
        " . ".join(['"a"'] * 20_000) + " = 1",
    ],
    ids=["key", "table", "quoted"],
)
def test_a_key_of_20000_parts_is_refused_before_it_is_read(reader, key, tmp_path):
    assert "dots in a line" in outcome(reader, tmp_path / "a.toml", key)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, str(2**63), str(-(2**63) - 1)])
def test_an_integer_beyond_64_bits_is_refused(reader, number, tmp_path):
    table = "[[budget]]\nmeasure = 'AP'\nmin = " if reader == "gate" else "public_url = "
    expected = "expected integers of 64 bits, found a larger one"
    assert outcome(reader, tmp_path / "a.toml", table + number) == expected
    least = table + "[1, " + number + "]"
    assert outcome(reader, tmp_path / "a.toml", least) == expected


@pytest.mark.parametrize("integer", [-(2**63), -(2**63) + 1, 2**63 - 2, 2**63 - 1])
def test_integers_of_64_bits_are_read(integer, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(f"a = [{integer}]\n")
    assert read_toml(str(path), refuse_none, hint="")[1] == {"a": [integer]}


def refuse_none(flaw):
    raise AssertionError(flaw)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${" * 20_000, f"at most {MOST_URL} characters"),
        ("${A}" * 20_000, f"at most {MOST_URL} characters"),
        ("slack://" + "${" * 1000, "the name of a variable between ${ and }"),
        ("slack://${B", "the name of a variable between ${ and }"),
        ("slack://${A}", "an address of Apprise"),
        ("slack://${B}", ""),
    ],
)
def test_variables_of_an_address_are_replaced_within_its_length(value, expected, tmp_path):
    text = f"[channels.oncall]\nurl = '{value}'\n"
    found = outcome("channels", tmp_path / "a.toml", text)
    assert (expected in found) if expected else not found
