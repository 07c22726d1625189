"""Addresses of files: those that are read through fsspec, and those that are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import fsspec
import pytest
import rankscope as rs
from rankscope.monitor.intake.files import EventFile

from tests.inputs.carriers import pack_zstd
from tests.refusals import refused

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
RUN = b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TABLE = b"query_id,relevance,score\n%s,1,1\n"


@pytest.fixture
def bucket():
    """A bucket in memory, with runs, and a table in partitions."""
    memory = fsspec.filesystem("memory")
    files = {
        "qrels.txt": QRELS,
        "runs/a.run": RUN,
        "runs/b.run": RUN,
        "runs/_notes.run": b"?",
        "runs/old/c.run": b"?",
        "log/day=1/part.csv": TABLE % b"q1",
        "log/day=2/part.csv": TABLE % b"q2",
        "log/day=2/.part.csv": b"?",
        "log/_temporary/part.csv": b"?",
    }
    for path, content in files.items():
        memory.pipe(f"/data/{path}", content)
    yield memory
    memory.rm("/data", recursive=True)


@pytest.mark.usefixtures("bucket")
def test_files_are_read_through_fsspec():
    found = rs.evaluate("memory://data/qrels.txt", "memory://data/runs/a.run", "RR")
    assert found.to_dict() == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}}


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("path", ["runs", "runs/", "runs/*.run", "r*/[ab].run"])
def test_a_folder_and_a_pattern_are_several_runs(path):
    found = rs.evaluate(QRELS, f"memory://data/{path}", "RR")
    assert {name: run["RR"] for name, run in found.items()} == {"a.run": 0.75, "b.run": 0.75}


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("path", ["log", "log/", "log/*/*.csv", "log/**/*.csv"])
def test_folders_of_partitions_are_one_table(path):
    rankings = rs.Rankings.from_table(f"memory://data/{path}", attributes=["day"])
    slices = rankings.evaluate("RR", by="day").slices
    assert list(slices.to_dict()) == ["1", "2"]


@pytest.mark.parametrize(
    ("address", "code", "message"),
    [
        ("s3://key:secret@data/a.run", "lake_url", "contains credentials"),
        ("s3://data/a.run?X-Amz-Signature=secret", "lake_url", "contains credentials"),
        ("https://host/a.run", "lake_url", "cannot read from https://"),
        ("file://host/a.run", "lake_url", "cannot read from file://host"),
        ("nowhere://host/a.run", "lake_read", "Protocol not known"),
        ("az://container/a.run", "missing_extra", "Install adlfs"),
        ("memory://data/none.run", "lake_read", "none.run"),
    ],
)
def test_addresses_that_cannot_be_read_are_refused_without_their_secrets(address, code, message):
    for call in (
        lambda: rs.evaluate(QRELS, address, "RR"),
        lambda: rs.read_qrels(address),
        lambda: rs.Rankings.from_run(QRELS, address),
        lambda: rs.compare(QRELS, [address, "memory://data/other.run"], "RR"),
    ):
        error = refused(call, code, message)
        assert "secret" not in str(error)


LOGS = ("jsonl", "json", "csv")


def pack_zip(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bm25.run", text)
    return packed.getvalue()


def pack_tar(text, form=tarfile.DEFAULT_FORMAT):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        member = tarfile.TarInfo("bm25.run")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return packed.getvalue()


ARCHIVES = {
    "zip": pack_zip,
    "tar": pack_tar,
    "tar.gz": lambda text: gzip.compress(pack_tar(text)),
    "tgz": lambda text: gzip.compress(pack_tar(text)),
    "tar.bz2": lambda text: bz2.compress(pack_tar(text)),
    "tar.zst": lambda text: pack_zstd(pack_tar(text)),
    "ustar.tar": lambda text: pack_tar(text, tarfile.USTAR_FORMAT),
    "gnu.tar": lambda text: pack_tar(text, tarfile.GNU_FORMAT),
}
FORMS = ("trec", "csv", "jsonl", "letor")


@pytest.mark.parametrize("ending", ARCHIVES)
def test_an_archive_is_refused_by_its_contents_or_its_name(ending, tmp_path):
    named, other = tmp_path / f"runs.{ending}", tmp_path / "bm25.run"
    calls = {
        str(named): lambda: rs.evaluate(QRELS, [str(named), "b.run"], "AP"),
        str(other): lambda: rs.evaluate(QRELS, other, "AP"),
        "<bytes>": lambda: rs.read_qrels(ARCHIVES[ending](QRELS)),
        **{f"{tmp_path}/run.{form}": lambda form=form: read(form) for form in FORMS},
        **{f"{tmp_path}/log.{form}": lambda form=form: read_events(form) for form in LOGS},
    }

    def read(form):
        return rs.evaluate(QRELS, rs.File(tmp_path / f"run.{form}", form), "AP")

    def read_events(form):
        file = EventFile(str(tmp_path / f"log.{form}"))
        return next(iter(file.read_tables() if form == "csv" else file.read_objects()))

    for path in calls.keys() - {"<bytes>", str(named)}:
        Path(path).write_bytes(ARCHIVES[ending](RUN))
    named.write_bytes(RUN)
    for path, call in calls.items():
        error = refused(call, "not_text", f"found a {'zip' if ending == 'zip' else 'tar'} archive")
        assert error.file == path
        assert "unpack it" in error.hint


def test_a_text_in_which_the_magic_stands_elsewhere_is_read():
    assert rs.evaluate(QRELS, b"# ustar\n" + RUN + b" " * 300 + b"\n", "RR")["RR"] == 0.75
