"""Pipes that close, disks that are full, terminals, and signals."""

from __future__ import annotations

import array
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.cli.command import PROGRAM
from tests.inputs.carriers import pipe_of
from tests.inputs.entry import QRELS, RUN, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    Process = subprocess.Popen[bytes]


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """Words whose output fills any pipe."""
    qrels, run = tmp_path / "many qrels", tmp_path / "many run"
    qrels.write_bytes(lines(*(f"q{number} 0 d 1" for number in range(20_000))))
    run.write_bytes(lines(*(f"q{number} Q0 d 1 1 t" for number in range(20_000))))
    return ["eval", str(qrels), str(run), "-m", "nDCG@10,AP,RR", "-q"]


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=["table", "json", "csv"])
def test_whoever_reads_only_the_head_ends_the_program_quietly(
    form: list[str], many: list[str]
) -> None:
    """X5."""
    with subprocess.Popen(
        [PROGRAM, *many, *form], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
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
def test_a_full_disk_is_status_4(words: list[str], qrels: str, run: str, tmp_path: Path) -> None:
    """X5."""
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
def test_a_closed_stream_gets_nothing_and_does_no_harm(closed: int, qrels: str) -> None:
    program = f'exec "$0" eval "$1" /none {closed}>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", program, PROGRAM, qrels], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, b"")
    assert (done.stderr == b"") == (closed == 2)


@contextmanager
def started(*words: str | Path) -> Iterator[Process]:
    """Start the program, and let nothing of it be left."""
    with subprocess.Popen(
        [PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def check_ended_by(process: Process, number: signal.Signals) -> None:
    """Send a signal, and see that the program ends by it, quietly."""
    process.send_signal(number)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.wait(timeout=300) == 128 + number
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def is_asleep(process: Process) -> bool:
    """Whether it waits for something."""
    facts = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
    return facts.rpartition(")")[2].split()[0] == "S"


def has_read_all(pipe: int) -> bool:
    """Whether nothing of what was written is still in the pipe."""
    waiting = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return waiting[0] == 0


ENDING = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@ENDING
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_a_signal_ends_a_read_that_never_ends(
    number: signal.Signals, role: Literal["qrels", "run"], qrels: str, run: str, tmp_path: Path
) -> None:
    """X10: after some of the input was read."""
    kind = "Q0 d 1 1 t" if role == "run" else "0 d 1"
    has_read = threading.Event()

    def pieces() -> Iterator[bytes]:
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
def test_a_signal_ends_a_read_of_a_pipe_that_gives_nothing(
    number: signal.Signals, role: str, qrels: str, run: str, tmp_path: Path
) -> None:
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
def test_a_signal_ends_the_wait_for_a_writer(
    number: signal.Signals, qrels: str, tmp_path: Path
) -> None:
    """X10: nobody has opened the pipe to write."""
    path = tmp_path / "nobody"
    os.mkfifo(path)
    with started("eval", qrels, path) as process:
        wait = Path(f"/proc/{process.pid}/wchan")
        places = {"wait_for_partner", "fifo_open", "0"}  # some systems do not say where
        while not (is_asleep(process) and wait.read_text(encoding="utf-8") in places):
            os.sched_yield()
        check_ended_by(process, number)


def on_terminal(program: str, *words: str) -> tuple[bytes, bytes]:
    """Run a piece of Python with a terminal as its standard error; give both outputs."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=slave
    ) as process:
        os.close(slave)
        assert process.stdout is not None
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
from rankscope.cli import main
from rankscope.engine import progress
progress.AFTER_SECONDS = 0
sys.exit(main())
"""
PLAIN = "import sys; from rankscope.cli import main; sys.exit(main())"


def test_a_bar_is_drawn_on_a_terminal_and_wiped_away(qrels: str, run: str) -> None:
    """X12: after a second, which is none here."""
    printed, said = on_terminal(AT_ONCE, "eval", qrels, run, "-m", "RR")
    assert printed == b"RR\t0.5000\n"
    assert b"\rjudgments: " in said
    assert f"\r{run}: ".encode() in said
    assert said.endswith(b"\r")


def test_short_work_draws_nothing(qrels: str, run: str) -> None:
    assert on_terminal(PLAIN, "eval", qrels, run, "-m", "RR") == (b"RR\t0.5000\n", b"")


def test_nothing_is_drawn_where_there_is_no_terminal(qrels: str, run: str) -> None:
    """X12."""
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "eval", qrels, run], capture_output=True, check=True
    )
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout


def test_standard_input_may_be_either_file(qrels: str, run: str) -> None:
    for words, path in ((["-", run], qrels), ([qrels, "-"], run), ([qrels, "/dev/stdin"], run)):
        with Path(path).open("rb") as given:
            done = subprocess.run(
                [PROGRAM, "eval", *words, "-m", "RR"], stdin=given, capture_output=True, check=True
            )
        assert (done.stdout, done.stderr) == (b"RR\t0.5000\n", b"")
