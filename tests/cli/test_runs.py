"""Several runs, pipes and streams on the command line."""

from __future__ import annotations

import array
import csv
import fcntl
import io
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import termios
import threading
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
import rankscope as rs

from tests.cli.command import PROGRAM, check_error
from tests.cli.command import run as start
from tests.inputs.carriers import pipe_of
from tests.inputs.entry import QRELS, RUN, lines


def test_values_have_four_places_and_tabs_between(program, qrels, run):
    done = program.run("eval", qrels, run, "-m", "RR", "-m", "P@1 NumRet")
    assert (done.returncode, done.stdout, done.stderr) == (
        0, b"RR\t0.5000\nP@1\t0.0000\nNumRet\t6.0000\n", b""
    )  # fmt: skip


def test_each_query_has_a_line_and_all_come_last(program, qrels, run):
    done = program.run("eval", qrels, run, "-m", "RR,P@1", "-q")
    assert done.stdout.decode() == (
        "RR\tq1\t0.5000\nP@1\tq1\t0.0000\nRR\tq2\t0.5000\nP@1\tq2\t0.0000\n"
        "RR\tall\t0.5000\nP@1\tall\t0.0000\n"
    )


def test_several_runs_are_columns(program, qrels, run, tmp_path):
    """R22: each is over all judged queries, and what it lacks is noted."""
    other = tmp_path / "other"
    other.write_bytes(lines("q1 Q0 d1 1 1 t"))
    done = program.run("eval", qrels, run, str(other), "-m", "RR")
    assert done.stdout.decode() == f"measure\t{run}\t{other}\nRR\t0.5000\t0.5000\n"
    assert b"not in the run: 1 (missing=zero)" in done.stderr
    done = program.run("eval", qrels, run, str(other), "-m", "RR", "-q")
    assert done.stdout.decode().splitlines()[1:] == [
        "RR\tq1\t0.5000\t1.0000", "RR\tq2\t0.5000\t0.0000", "RR\tall\t0.5000\t0.5000"
    ]  # fmt: skip


def test_each_run_has_an_interval(program, qrels, run):
    done = program.run("eval", qrels, run, run, "-m", "RR,AP", "--interval", "0.9")
    evaluation = rs.evaluate(qrels, run, ["RR", "AP"], interval=0.9)
    header, *rows = (row.split("\t") for row in done.stdout.decode().splitlines())
    assert header == ["measure", *[run, f"{run} lower", f"{run} upper"] * 2]
    assert rows == [
        [name, *[f"{number:.4f}" for number in (value, *evaluation.intervals[name])] * 2]
        for name, value in evaluation.items()
    ]
    done = program.run("eval", qrels, run, "-m", "RR", "--interval", "0.9", "-q")
    header, *rows = (row.split("\t") for row in done.stdout.decode().splitlines())
    assert header == ["measure", "query", "value", "lower", "upper"]
    assert {len(row) for row in rows} == {5}
    assert {tuple(row[3:]) for row in rows[:-1]} == {("", "")}


def test_a_bad_run_after_a_good_one_prints_nothing(program, qrels, run, tmp_path):
    bad = tmp_path / "bad"
    bad.write_bytes(RUN + b"q3 Q0\n")
    said = check_error(program.run("eval", qrels, run, str(bad)), 3, "field_count")
    assert f"{bad}:7: " in said


def test_equal_runs_are_noted(program, qrels, run, tmp_path):
    same, other = tmp_path / "same", tmp_path / "other"
    same.write_bytes(RUN)
    other.write_bytes(RUN.replace(b"3.0", b"3.1"))
    assert b"identical_runs" not in program.run("eval", qrels, run, str(other)).stderr
    done = program.run("eval", qrels, run, str(other), str(same), run)
    assert b"identical to an earlier one: 2 [identical_runs]" in done.stderr


def limit_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))


def test_a_thousand_runs_need_few_open_files(qrels, tmp_path):
    """X14: all of one size, so that they must be read to be told apart."""
    paths = []
    for number in range(1000):
        path = tmp_path / f"{number:04}.run"
        path.write_bytes(RUN.replace(b" t\n", f" t{number:04}\n".encode()))
        paths.append(str(path))
    done = subprocess.run(
        [PROGRAM, "eval", qrels, *paths, "-m", "RR"],
        capture_output=True,
        preexec_fn=limit_files,
        timeout=300,
        check=True,
    )
    head, values = done.stdout.decode().splitlines()
    assert head.split("\t") == ["measure", *paths]
    assert values.split("\t") == ["RR", *["0.5000"] * 1000]
    assert done.stderr == b""


NAMES = [
    b"new\nline",
    b"quo'te\"s",
    b"-q",
    b"--json",
    b"sp ace",
    b"\xff\xfe",
    "ü€".encode(),
    b"=1+1",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_file_name_works_and_is_shown_on_one_line(name, tmp_path):
    folder = os.fsencode(tmp_path)
    for file, text in ((name, QRELS), (name + b".run", RUN), (name + b".bad", b"q1\n")):
        with open(os.path.join(folder, file), "wb") as opened:  # noqa: PTH118, PTH123 - bytes
            opened.write(text)
    shown = os.fsdecode(name).replace("\n", "\\n").encode("utf-8", "backslashreplace")
    files = [b"--", name, name + b".run", name + b".run"]
    done = start("eval", "-m", "RR", *files, folder=str(tmp_path))
    assert done.stdout == b"measure" + 2 * (b"\t" + shown + b".run") + b"\nRR\t0.5000\t0.5000\n"
    done = start("eval", "--", name, name + b".bad", folder=str(tmp_path))
    check_error(done, 3, "field_count")
    assert b"\xff" not in done.stderr
    done = start("eval", "--json", *files, folder=str(tmp_path))
    named = json.loads(done.stdout)["runs"][0]["run"]
    assert os.fsencode(named) == name + b".run"


def test_a_cell_that_a_spreadsheet_would_run_is_text(program, tmp_path):
    """X9 and the export of C16."""
    ids = ["=1+1", "+1", "-1", "@SUM(A1)", 'say"so"', "a,b", "plain"]
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(lines(*(f"{query} 0 d 1" for query in ids)))
    run.write_bytes(lines(*(f"{query} Q0 d 1 1 t" for query in ids)))
    done = program.run("eval", str(qrels), str(run), "-m", "RR", "--csv", "-q")
    table = list(csv.reader(io.StringIO(done.stdout.decode())))
    assert table[0] == ["query_id", "RR"]
    assert [row[0] for row in table[1:]] == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", 'say"so"', "a,b", "plain"
    ]  # fmt: skip
    assert {row[1] for row in table[1:]} == {"1.0"}


def test_csv_has_a_column_a_run_or_a_row_a_query(program, qrels, run, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(lines("q1 Q0 d1 1 1 t"))

    def table(*words):
        done = program.run("eval", qrels, *words, "-m", "RR", "--csv")
        return list(csv.reader(io.StringIO(done.stdout.decode())))

    assert table(run) == [["measure", "value"], ["RR", "0.5"]]
    assert table(run, str(other)) == [["measure", run, str(other)], ["RR", "0.5", "0.5"]]
    assert table(run, str(other), "-q") == [
        ["run", "query_id", "RR"],
        [run, "q1", "0.5"],
        [run, "q2", "0.5"],
        [str(other), "q1", "1.0"],
        [str(other), "q2", "0.0"],
    ]


def test_judgments_are_read_by_subtopic_if_asked_for(program, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(lines("q1 1 a 1", "q1 2 a 0", "q1 2 b 1"))
    run.write_bytes(lines("q1 Q0 b 1 2 t", "q1 Q0 a 2 1 t"))
    # Measures that know no subtopics take the highest grade of each document.
    done = program.run("eval", str(qrels), str(run), "-m", "P@2", "--subtopics")
    assert (done.returncode, done.stdout) == (0, b"P@2\t1.0000\n")
    # Without the flag, a document with two grades is a mistake.
    done = program.run("eval", str(qrels), str(run), "-m", "P@2")
    assert done.returncode == 3
    # The column of subtopics can have any name.
    table = tmp_path / "qrels.csv"
    table.write_bytes(lines("query_id,facet,doc_id,relevance", "q1,1,a,1", "q1,2,b,1"))
    words = ["eval", str(table), str(run), "-m", "StRecall@1", "--col", "subtopic=facet"]
    assert program.run(*words).stdout == b"StRecall@1\t0.5000\n"
    # Measures of diversity need no flag.
    done = program.run("eval", str(qrels), str(run), "-m", "StRecall@1")
    assert (done.returncode, done.stdout) == (0, b"StRecall@1\t0.5000\n")


@pytest.fixture
def many(tmp_path):
    """Words whose output fills any pipe."""
    qrels, run = tmp_path / "many qrels", tmp_path / "many run"
    qrels.write_bytes(lines(*(f"q{number} 0 d 1" for number in range(20_000))))
    run.write_bytes(lines(*(f"q{number} Q0 d 1 1 t" for number in range(20_000))))
    return ["eval", str(qrels), str(run), "-m", "nDCG@10,AP,RR", "-q"]


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=["table", "json", "csv"])
def test_a_pipe_that_closes_early_ends_the_program_quietly(form, many):
    with subprocess.Popen(
        [PROGRAM, *many, *form], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["measures"],
        ["demo", "--offline"],
        ["eval", "QRELS", "RUN"],
        ["report", "QRELS", "RUN", "-o", "-"],
    ],
)
def test_a_full_disk_is_status_4(words, qrels, run, tmp_path):
    words = [{"QRELS": qrels, "RUN": run}.get(word, word) for word in words]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    assert done.returncode == 4
    assert done.stderr.decode().splitlines()[0] == (
        "rankscope: error: No space left on device [io]"
    )


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_gets_nothing_and_does_no_harm(closed, qrels):
    program = f'exec "$0" eval "$1" /none {closed}>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", program, PROGRAM, qrels], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, b"")
    assert (done.stderr == b"") == (closed == 2)


@contextmanager
def started(*words):
    """Start the program, and let nothing of it be left."""
    with subprocess.Popen(
        [PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def check_ended_by(process, number):
    """Send a signal, and see that the program ends by it, quietly."""
    process.send_signal(number)
    assert process.wait(timeout=300) == 128 + number
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def is_asleep(process):
    """Whether it waits for something."""
    facts = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
    return facts.rpartition(")")[2].split()[0] == "S"


def has_read_all(pipe):
    """Whether nothing of what was written is still in the pipe."""
    waiting = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return waiting[0] == 0


ENDING = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@ENDING
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_a_signal_ends_a_read_that_never_ends(number, role, qrels, run, tmp_path):
    """X10: after some of the input was read."""
    kind = "Q0 d 1 1 t" if role == "run" else "0 d 1"
    has_read = threading.Event()

    def pieces():
        for part in count():
            yield "".join(f"q{part}.{query} {kind}\n" for query in range(1000)).encode()
            if part == 500:
                has_read.set()

    with pipe_of(pieces(), tmp_path) as pipe:
        given = (qrels, pipe) if role == "run" else (pipe, run)
        with started("eval", *given) as process:
            assert has_read.wait(timeout=300)
            check_ended_by(process, number)


@ENDING
@pytest.mark.parametrize("role", ["qrels", "run", "standard input"])
def test_a_signal_ends_a_read_of_a_pipe_that_gives_nothing(number, role, qrels, run, tmp_path):
    """X10: the writer has written a little, and is silent."""
    path = tmp_path / "silent"
    os.mkfifo(path)
    silent = os.open(path, os.O_RDWR)
    os.write(silent, QRELS if role == "qrels" else RUN)
    from_path = 'exec "$0" eval "$1" - < "$2"'
    words = {
        "qrels": (PROGRAM, "eval", str(path), run),
        "run": (PROGRAM, "eval", qrels, str(path)),
        "standard input": ("/bin/sh", "-c", from_path, PROGRAM, qrels, str(path)),
    }[role]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while not (has_read_all(silent) and is_asleep(process)):
                os.sched_yield()
            check_ended_by(process, number)
        finally:
            process.kill()
            os.close(silent)


@ENDING
def test_a_signal_ends_the_wait_for_a_writer(number, qrels, tmp_path):
    """X10: nobody has opened the pipe to write."""
    path = tmp_path / "nobody"
    os.mkfifo(path)
    with started("eval", qrels, path) as process:
        wait = Path(f"/proc/{process.pid}/wchan")
        places = {"wait_for_partner", "fifo_open", "0"}  # some systems do not say where
        while not (is_asleep(process) and wait.read_text(encoding="utf-8") in places):
            os.sched_yield()
        check_ended_by(process, number)


def on_terminal(program, *words):
    """Run a piece of Python with a terminal as its standard error; give both outputs."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=slave
    ) as process:
        os.close(slave)
        printed = process.stdout.read()
    said = b""
    try:
        while piece := os.read(master, 4096):
            said += piece
    except OSError:  # how a terminal ends
        return printed, said
    finally:
        os.close(master)
    return printed, said


AT_ONCE = """
import sys
from rankscope._cli import main
from rankscope._show import progress
progress.AFTER_SECONDS = 0
sys.exit(main())
"""
PLAIN = "import sys; from rankscope._cli import main; sys.exit(main())"


def test_a_bar_is_drawn_on_a_terminal_and_wiped_away(qrels, run):
    """X12: after a second, which is none here."""
    printed, said = on_terminal(AT_ONCE, "eval", qrels, run, "-m", "RR")
    assert printed == b"RR\t0.5000\n"
    assert b"\rjudgments: " in said
    assert f"\r…{run[-39:]}: ".encode() in said
    assert said.endswith(b"\r")


def test_short_work_draws_nothing(qrels, run):
    assert on_terminal(PLAIN, "eval", qrels, run, "-m", "RR") == (b"RR\t0.5000\n", b"")


def test_nothing_is_drawn_where_there_is_no_terminal(qrels, run):
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "eval", qrels, run], capture_output=True, check=True
    )
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout


def test_standard_input_may_be_either_file(qrels, run):
    for words, path in ((["-", run], qrels), ([qrels, "-"], run), ([qrels, "/dev/stdin"], run)):
        with Path(path).open("rb") as given:
            done = subprocess.run(
                [PROGRAM, "eval", *words, "-m", "RR"], stdin=given, capture_output=True, check=True
            )
        assert (done.stdout, done.stderr) == (b"RR\t0.5000\n", b"")
