"""An archive is refused by its name or its contents, with the command that unpacks it."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.monitor.intake.files import EventFile

from tests.inputs.carriers import pack_zstd
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QRELS = {"q1": {"d1": 1}}
RUN = b"q1 Q0 d1 1 0.5 t\n"
TABLE = b"qid,doc,score\nq1,d1,0.5\n"


def pack_zip(text: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bm25.run", text)
    return packed.getvalue()


def pack_tar(text: bytes, form: int = tarfile.DEFAULT_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        member = tarfile.TarInfo("bm25.run")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return packed.getvalue()


ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "zip": pack_zip,
    "tar": pack_tar,
    "tar.gz": lambda text: gzip.compress(pack_tar(text)),
    "tgz": lambda text: gzip.compress(pack_tar(text)),
    "tar.bz2": lambda text: bz2.compress(pack_tar(text)),
    "tar.zst": lambda text: pack_zstd(pack_tar(text)),
    "ustar.tar": lambda text: pack_tar(text, tarfile.USTAR_FORMAT),
    "gnu.tar": lambda text: pack_tar(text, tarfile.GNU_FORMAT),
}
NAMED = pytest.mark.parametrize("ending", ARCHIVES)


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
    path.write_bytes(ARCHIVES[ending](RUN))
    with pytest.raises(rs.FormatError) as refused:
        rs.evaluate(QRELS, path, "AP")
    check(refused.value, ending, str(path))


@NAMED
def test_an_archive_is_refused_by_its_name(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    for content in (ARCHIVES[ending](RUN), RUN):
        path.write_bytes(content)
        for call in (
            lambda: rs.evaluate(QRELS, path, "AP"),
            lambda: rs.evaluate(path, "AP"),
            lambda: rs.read_qrels(str(path)),
            lambda: rs.compare(QRELS, [str(path), "b.run"], "AP"),  # type: ignore[arg-type]
        ):
            check(refused(call, "not_text"), ending, str(path))
    refused(lambda: rs.evaluate(QRELS, f"{path}/bm25.run", "AP"), "io")


@NAMED
def test_judgments_in_bytes_are_refused(ending: str) -> None:
    with pytest.raises(rs.FormatError) as refused:
        rs.read_qrels(ARCHIVES[ending](b"q1 0 d1 1\n"))
    check(refused.value, ending, "<bytes>")


@NAMED
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "letor"])
def test_a_table_is_refused(form: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    path.write_bytes(ARCHIVES[ending](TABLE))
    with pytest.raises(rs.FormatError) as refused:
        rs.evaluate(QRELS, rs.File(path, form), "AP")  # type: ignore[arg-type]  # a format
    check(refused.value, ending, str(path))


@NAMED
@pytest.mark.parametrize("name", ["log.jsonl", "log.json", "log.csv", "log.{}"])
def test_a_file_of_events_is_refused(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / name.format(ending)
    path.write_bytes(ARCHIVES[ending](b"{}"))
    file = EventFile(str(path))
    with pytest.raises(rs.FormatError) as refused:
        next(iter(file.read_tables() if name == "log.csv" else file.read_objects()))
    check(refused.value, ending, str(path))


def test_a_text_in_which_the_magic_stands_elsewhere_is_read() -> None:
    lines = b"# ustar\n" + RUN
    assert rs.evaluate(QRELS, lines + b" " * 300 + b"\n", "AP")["AP"] == 1.0
