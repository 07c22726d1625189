"""An archive whose name doesn't tell so is refused, with the command that unpacks it."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.monitor.intake.files import EventFile

from tests.files.test_several_runs import ARCHIVES, pack_tar

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 1}}
RUN = b"q1 Q0 d1 1 0.5 t\n"
TABLE = b"qid,doc,score\nq1,d1,0.5\n"


def pack_one(ending: str, text: bytes) -> bytes:
    """Make an archive that holds one file."""
    if ending in TARS:
        return pack_tar({"bm25.run": text}, TARS[ending])
    return ARCHIVES[ending]({"bm25.run": text})


TARS = {"ustar.tar": tarfile.USTAR_FORMAT, "gnu.tar": tarfile.GNU_FORMAT}
NAMED = pytest.mark.parametrize("ending", [*ARCHIVES, *TARS])


def check(error: rs.FormatError, ending: str, file: str) -> None:
    """Hold an error against what a reader needs: the file, what it is, and how to unpack it."""
    kind, command = ("zip", "unzip") if ending == "zip" else ("tar", "tar -xf")
    assert error.code == "not_text"
    assert error.file == file
    assert f"found a {kind} archive" in error.message
    assert kind == "zip" or command in error.hint
    assert "unpack it" in error.hint


@NAMED
def test_a_run_is_refused_whose_name_is_not_that_of_an_archive(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(pack_one(ending, RUN))
    with pytest.raises(rs.FormatError) as refused:
        rs.evaluate(QRELS, path, "AP")
    check(refused.value, ending, str(path))


@NAMED
def test_judgments_in_bytes_are_refused(ending: str) -> None:
    with pytest.raises(rs.FormatError) as refused:
        rs.read_qrels(pack_one(ending, b"q1 0 d1 1\n"))
    check(refused.value, ending, "<bytes>")


@NAMED
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "letor"])
def test_a_table_is_refused(form: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    path.write_bytes(pack_one(ending, TABLE))
    with pytest.raises(rs.FormatError) as refused:
        rs.evaluate(QRELS, rs.File(path, form), "AP")  # type: ignore[arg-type]  # a format
    check(refused.value, ending, str(path))


@NAMED
@pytest.mark.parametrize("name", ["log.jsonl", "log.json", "log.csv", "log.{}"])
def test_a_file_of_events_is_refused(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / name.format(ending)
    path.write_bytes(pack_one(ending, b"{}"))
    file = EventFile(str(path))
    with pytest.raises(rs.FormatError) as refused:
        next(iter(file.read_tables() if name == "log.csv" else file.read_objects()))
    check(refused.value, ending, str(path))


def test_a_text_in_which_the_magic_stands_elsewhere_is_read() -> None:
    lines = b"# ustar\n" + RUN
    assert rs.evaluate(QRELS, lines + b" " * 300 + b"\n", "AP")["AP"] == 1.0
