"""What writes a file writes it whole or not at all, and a failure has its status."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import rankscope as rs
from rankscope._writing import replacing, write_text
from rankscope.errors import FileError

from tests.cli.command import PROGRAM
from tests.cli.monitored import CONFIGURED, make_events, write_lines
from tests.program import start_program

SMALL = 4096
"""How many bytes a file may have where the disk is said to be full."""


def run(folder, *words, most=None, stdout=subprocess.PIPE):
    """Run the program in a folder, with files of at most so many bytes."""
    if most is None and stdout == subprocess.PIPE:
        return start_program().run(*words, folder=str(folder))

    def limit():
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.run(
        [PROGRAM, *words],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # what is cut off would stay
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=limit,
        timeout=300,
        check=False,
    )


WRITING = {
    "report": ("report", "qrels", "run", "-o", "OUT.html"),
    "leaderboard": ("leaderboard", "qrels", "run", "other", "--plot", "OUT.svg"),
    "demo": ("demo", "--offline", "-o", "OUT.html"),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
@pytest.mark.parametrize("there", [None, b"what was there"])
def test_a_full_disk_leaves_no_part_of_a_file(words, there, files):
    out = files / next(word for word in words if word.startswith("OUT"))
    if there is not None:
        out.write_bytes(there)
    before = sorted(files.iterdir())
    most = SMALL if words[0] != "demo" else 100_000  # its search log has to fit
    done = run(files, *words, most=most)
    assert done.returncode == 4, done
    assert b"cannot write this file" in done.stderr
    assert b"ulimit -f" in done.stderr
    assert sorted(files.iterdir()) == before
    assert there is None or out.read_bytes() == there


def fill_store(folder):
    events = make_events()
    rankings = write_lines(folder / "rankings.jsonl", events["rankings"])
    for words in (("configure", "events.db", *CONFIGURED), ("ingest", "events.db", rankings)):
        assert run(folder, "monitor", *words).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", [("backup", "backups"), ("export", "exported")], ids=" ".join)
def test_a_full_disk_leaves_no_part_of_a_store(words, files):
    fill_store(files)
    before = {path.name for path in files.iterdir() if not path.name.startswith("events.db")}
    command, out = words
    done = run(files, "monitor", command, "events.db", out, most=2048)
    assert (done.returncode, b"Traceback" in done.stderr) == (4, False), done
    after = {path.name for path in files.iterdir() if not path.name.startswith("events.db")}
    if (files / out).exists():  # a place says which store it belongs to, and nothing else
        assert [path.name for path in (files / out).iterdir()] == ["_store"]
        after.remove(out)
    assert after == before


def test_a_number_that_no_double_holds_matches_nothing(files):
    for got in ("1e999", "nan", "inf", "0e400", "1" * 400, ""):
        done = run(files, "conventions", "qrels", "run", "-m", "nDCG", f"--got={got}")
        assert done.returncode == (1 if got == "0e400" else 2), (got, done)
    assert run(files, "conventions", "qrels", "run", "-m", "nDCG", "--got=1").returncode == 0


@pytest.mark.parametrize("name", ["qrels", "run", "./run", "link", "hard"])
def test_a_page_is_not_written_over_an_input(name, files):
    (files / "link").symlink_to("run")
    (files / "hard").hardlink_to(files / "qrels")
    content = (files / name).read_bytes()
    done = run(files, "report", "qrels", "run", "-o", name)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (files / name).read_bytes() == content


@pytest.mark.parametrize("words", [("measures",), ("eval", "qrels", "run"), ("report", "qrels")])
def test_standard_error_that_cannot_be_written_keeps_the_status(words, files):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PROGRAM, *words, "--nothing"], cwd=files, stderr=full, timeout=300, check=False
        )
    assert done.returncode == 2


def test_an_error_as_json_that_cannot_be_written_keeps_the_status(files):
    with Path("/dev/full").open("wb") as full:
        done = run(files, "eval", "qrels", "missing", "--json", stdout=full.fileno())
    assert done.returncode == 4
    assert b"Traceback" not in done.stderr


def test_a_defect_has_a_status_that_no_check_has(files):
    program = (
        "import importlib, sys, rankscope._cli\n"
        "importlib.import_module('rankscope._compare.gate.command').run = lambda _: [][0]\n"
        "sys.exit(rankscope._cli.main(['gate', 'qrels', 'run', 'run', '--max-drop', 'RR=0.1']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=files, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (70, b"")
    *_, error, hint = done.stderr.decode().splitlines()
    assert done.stderr.startswith(b"Traceback")
    assert error == "rankscope: error: unexpected IndexError: list index out of range [defect]"
    assert hint.startswith("Hint: this is a defect of rankscope")


# -- The one place that writes files


def write_half(path):
    with replacing(path) as part:
        part.write_text("half", encoding="utf-8")
        raise RuntimeError


def test_what_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "page"
    with pytest.raises(RuntimeError):
        write_half(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("whole", encoding="utf-8")
    with pytest.raises(RuntimeError):
        write_half(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == "whole"


def test_links_and_permissions_stay(tmp_path):
    page, link = tmp_path / "page", tmp_path / "link"
    page.write_text("old", encoding="utf-8")
    page.chmod(0o640)
    link.symlink_to("page")
    write_text(link, "new")
    assert link.is_symlink()
    assert page.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(page.stat().st_mode) == 0o640


def test_new_files_are_as_the_umask_says(tmp_path):
    former = os.umask(0o027)
    try:
        write_text(tmp_path / "page", "new")
        with replacing(tmp_path / "secret", mode=0o600):
            pass
    finally:
        os.umask(former)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"page": 0o640, "secret": 0o600}


def test_a_pipe_gets_what_was_written(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_text(pipe, "page" * 50_000)
    reader.join()
    assert read == ["page" * 50_000]
    assert pipe.is_fifo()


PLACES = {
    "a folder": lambda folder: folder,
    "a folder that is missing": lambda folder: folder / "missing" / "page",
    "a folder that is a file": lambda folder: folder / "file" / "page",
    "a name that is too long": lambda folder: folder / ("x" * 300),
    "a name that ends like a folder": lambda folder: f"{folder}/page/",
    "NUL": lambda folder: f"{folder}/a\0b",
    "a lone surrogate": lambda folder: f"{folder}/\ud800",
    "a link to itself": lambda folder: folder / "loop",
    "a device that is full": lambda _: "/dev/full",
    "nothing": lambda _: "",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_place_that_cannot_be_written_is_a_typed_error(place, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.iterdir())
    report = rs.report({"q": {"d": 1}}, {"run": {"q": {"d": 1.0}}}, "nDCG")
    with pytest.raises(FileError) as refusal:
        report.write(place(tmp_path))
    assert (refusal.value.code, refusal.value.exit_status) == ("io", 4)
    assert refusal.value.hint
    assert sorted(tmp_path.iterdir()) == before
