"""A folder, a pattern and an archive stand for several runs, each named after its file."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope._inputs.files import archives
from rankscope.cli import main

from tests.inputs.carriers import pack_zstd
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
ONE = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TWO = b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TABLE = b"query_id,doc_id,score\nq1,d2,2.0\nq1,d1,1.0\nq2,d3,1.0\n"
RUNS = {"one.run": ONE, "deep/two.run.gz": gzip.compress(TWO), "three.csv": TABLE}
VALUES = {"one.run": 1.0, "two.run.gz": 0.75, "three.csv": 0.75}


def pack_zip(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def pack_tar(members: Mapping[str, bytes], form: int = tarfile.DEFAULT_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        folder = tarfile.TarInfo("deep")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


ARCHIVES: dict[str, Callable[[Mapping[str, bytes]], bytes]] = {
    "zip": pack_zip,
    "tar": pack_tar,
    "tar.gz": lambda members: gzip.compress(pack_tar(members)),
    "tgz": lambda members: gzip.compress(pack_tar(members)),
    "tar.bz2": lambda members: bz2.compress(pack_tar(members)),
    "tar.zst": lambda members: pack_zstd(pack_tar(members)),
}
NAMED = pytest.mark.parametrize("ending", ARCHIVES)


def means(evaluations: Mapping[str, rs.Evaluation]) -> dict[str, float]:
    return {name: evaluation["RR"] for name, evaluation in evaluations.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, content in {"a.run": ONE, "b.run": TWO, ".hidden": b"?", "_SUCCESS": b""}.items():
        (folder / name).write_bytes(content)
    return folder


@NAMED
def test_the_files_in_an_archive_are_runs(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    hidden = {"__MACOSX/._one.run": b"?", ".git/x": b"?"}
    path.write_bytes(ARCHIVES[ending](RUNS | hidden))
    assert means(rs.evaluate(QRELS, path, "RR")) == VALUES  # type: ignore[arg-type]  # several
    assert means(rs.evaluate(QRELS, [path, path / "one.run"][:1], "RR")) == VALUES  # type: ignore[call-overload]
    compared = rs.compare(QRELS, str(path), "RR")  # type: ignore[arg-type]  # several
    assert {name: of["RR"] for name, of in compared.means.items()} == VALUES
    for name, value in zip(RUNS, VALUES.values(), strict=True):
        assert rs.evaluate(QRELS, path / name, "RR")["RR"] == value


@NAMED
def test_an_archive_of_one_file_is_that_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"qrels.{ending}"
    path.write_bytes(ARCHIVES[ending]({"deep/qrels.txt": QRELS}))
    assert rs.evaluate(path, ONE, "RR")["RR"] == 1.0
    table = tmp_path / f"log.{ending}"
    table.write_bytes(ARCHIVES[ending]({"log.csv": b"query_id,relevance,score\nq,1,2\nq,0,3\n"}))
    assert rs.Rankings.from_table(table).evaluate("RR")["RR"] == 0.5


@NAMED
def test_an_archive_of_several_files_is_not_one_input(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    path.write_bytes(ARCHIVES[ending](RUNS))
    error = refused(lambda: rs.read_qrels(path), "several_files", "an archive of 3: one.run")
    assert f"{path}/one.run" in error.hint
    path.write_bytes(ARCHIVES[ending]({}))
    refused(lambda: rs.read_qrels(path), "several_files", "without files")
    path.write_bytes(ARCHIVES[ending](RUNS))
    refused(lambda: rs.read_qrels(f"{path}/other.run"), "io", "no such file")


@NAMED
def test_an_error_in_an_archive_names_the_file_in_it(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    path.write_bytes(ARCHIVES[ending]({"a.run": ONE, "b.csv": TABLE.replace(b"1.0", b"x")}))
    error = refused(lambda: rs.evaluate(QRELS, path, "RR"), "score_not_number")  # type: ignore[arg-type]
    assert (error.file, error.line) == (f"{path}/b.csv", 3)
    path.write_bytes(ARCHIVES[ending]({"a.run": ONE + b"q1 Q0\n"}))
    error = refused(lambda: rs.evaluate(QRELS, f"{path}/a.run", "RR"), "field_count")
    assert (error.file, error.line) == (f"{path}/a.run", 4)


@NAMED
def test_a_damaged_archive_is_refused_whole(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    whole = ARCHIVES[ending]({"a.run": ONE * 50, "b.run": TWO})
    for content in (whole[: len(whole) // 2], b"", b"PK\x03\x04", whole[:300]):
        path.write_bytes(content)
        with pytest.raises(rs.InputError):
            rs.evaluate(QRELS, path, "RR")  # type: ignore[arg-type]  # several


@NAMED
def test_a_bomb_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{ending}"
    if ending == "tar":
        pytest.skip("it isn't compressed")
    path.write_bytes(ARCHIVES[ending]({"a.run": bytes(80 << 20)}))
    refused(lambda: rs.evaluate(QRELS, f"{path}/a.run", "RR"), "decompressed_bytes")


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("a.run")
        member.pax_headers = {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "a.run",
            "GNU.sparse.realsize": str(1 << 40),
        }
        content = b"0\n".ljust(512, b"\0")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    refused(lambda: rs.evaluate(QRELS, path, "RR"), "unsupported_format", "holes")


def test_links_and_too_many_files_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("a.run")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refused(lambda: rs.evaluate(QRELS, path, "RR"), "several_files", "without files")
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    for name, pack in {"runs.zip": pack_zip, "more.tar": pack_tar}.items():
        (tmp_path / name).write_bytes(pack({"a": ONE, "b": ONE}))
        assert len(archives.list_members(str(tmp_path / name))) == 2
        (tmp_path / name).write_bytes(pack({"a": ONE, "b": ONE, "c": ONE}))
        refused(lambda name=name: archives.list_members(str(tmp_path / name)), "archive_members")  # type: ignore[misc]


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.zip"
    whole = bytearray(pack_zip({"a.run": ONE}))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of both headers
        whole[whole.index(magic) + at] |= 1
    path.write_bytes(whole)
    refused(lambda: rs.evaluate(QRELS, f"{path}/a.run", "RR"), "encrypted")


def test_an_archive_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.tar"
    for run, value in ((ONE, 1.0), (TWO + b"\n", 0.75)):
        path.write_bytes(pack_tar({"a.run": run}))
        assert rs.evaluate(QRELS, f"{path}/a.run", "RR")["RR"] == value


def test_files_of_a_folder_or_a_pattern_are_runs(folder: Path) -> None:
    expected = {"a.run": 1.0, "b.run": 0.75}
    for given in (folder, f"{folder}/*.run", [f"{folder}/*"], rs.File(str(folder))):
        assert means(rs.evaluate(QRELS, given, "RR")) == expected  # type: ignore[call-overload]
    compared = rs.compare(QRELS, folder, "RR")  # type: ignore[arg-type]  # several
    assert {name: of["RR"] for name, of in compared.means.items()} == expected
    assert rs.fuse(str(folder)).names == ("a.run", "b.run")  # type: ignore[arg-type]  # several
    assert "b.run: RR 0.7500" in str(rs.report(QRELS, str(folder), "RR"))


def test_table_files_of_a_folder_are_one_run_unless_runs_are_compared(tmp_path: Path) -> None:
    for name, rows in {"a.csv": b"q1,d1,1\n", "b.csv": b"q2,d3,1\n"}.items():
        (tmp_path / name).write_bytes(b"query_id,doc_id,score\n" + rows)
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 1.0
    compared = rs.compare(QRELS, tmp_path, "RR")  # type: ignore[arg-type]  # several
    assert {name: of["RR"] for name, of in compared.means.items()} == {"a.csv": 0.5, "b.csv": 0.5}


def test_table_files_beside_trec_runs_are_refused_where_either_could_be_meant(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_bytes(TABLE)
    (tmp_path / "README.md").write_text("These are the runs of May.")
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 0.75
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(ONE))
    error = refused(lambda: rs.evaluate(QRELS, tmp_path, "RR"), "schema_mismatch", "a.csv and")
    assert "*.run" in error.hint
    found = rs.evaluate(QRELS, [f"{tmp_path}/a.csv", f"{tmp_path}/*.gz"], "RR")
    assert means(found) == {"a.csv": 0.75, "b.run.gz": 1.0}


def test_the_command_line_takes_folders_patterns_and_archives(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.zip").write_bytes(pack_zip({"qrels.txt": QRELS}))
    archive = tmp_path / "runs.tgz"
    archive.write_bytes(ARCHIVES["tgz"]({"a.run": ONE, "b.run": TWO}))
    qrels = str(tmp_path / "qrels.zip")
    for runs in (str(folder), f"{folder}/*.run", str(archive)):
        base = str(folder) if runs.endswith("*.run") else runs
        assert main(["eval", qrels, runs, "-m", "RR"]) == 0
        out = capsys.readouterr().out
        assert out == f"measure\t{base}/a.run\t{base}/b.run\nRR\t1.0000\t0.7500\n"
        assert main(["compare", qrels, runs, "-m", "RR", "--csv"]) == 0
        assert "b.run" in capsys.readouterr().out
        page = str(tmp_path / "page.html")
        assert main(["report", qrels, runs, "-o", page]) == 0
        assert main(["fuse", runs]) == 0
        assert capsys.readouterr().out.count("\n") > 3
