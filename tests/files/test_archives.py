"""An archive is refused by its name or its contents, with the command that unpacks it."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.monitor.intake.files import EventFile

from tests.inputs.carriers import pack_zstd
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {"q1": {"d1": 1}}
RUN = b"q1 Q0 d1 1 0.5 t\n"
LOGS = ("jsonl", "json", "csv")


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
FORMS = ("trec", "csv", "jsonl", "letor")


@pytest.mark.parametrize("ending", ARCHIVES)
def test_an_archive_is_refused_by_its_contents_or_its_name(ending: str, tmp_path: Path) -> None:
    named, other = tmp_path / f"runs.{ending}", tmp_path / "bm25.run"
    calls: dict[str, Callable[[], object]] = {
        str(named): lambda: rs.evaluate(QRELS, [str(named), "b.run"], "AP"),
        str(other): lambda: rs.evaluate(QRELS, other, "AP"),
        "<bytes>": lambda: rs.read_qrels(ARCHIVES[ending](b"q1 0 d1 1\n")),
        **{f"{tmp_path}/run.{form}": lambda form=form: read(form) for form in FORMS},  # type: ignore[misc]
        **{f"{tmp_path}/log.{form}": lambda form=form: read_events(form) for form in LOGS},  # type: ignore[misc]
    }

    def read(form: str) -> object:
        return rs.evaluate(QRELS, rs.File(tmp_path / f"run.{form}", form), "AP")  # type: ignore[arg-type]

    def read_events(form: str) -> object:
        file = EventFile(str(tmp_path / f"log.{form}"))
        return next(iter(file.read_tables() if form == "csv" else file.read_objects()))

    for path in calls.keys() - {"<bytes>", str(named)}:
        Path(path).write_bytes(ARCHIVES[ending](RUN))
    named.write_bytes(RUN)
    for path, call in calls.items():
        error = refused(call, "not_text", f"found a {'zip' if ending == 'zip' else 'tar'} archive")
        assert error.file == path
        assert "unpack it" in error.hint


def test_a_text_in_which_the_magic_stands_elsewhere_is_read() -> None:
    lines = b"# ustar\n" + RUN
    assert rs.evaluate(QRELS, lines + b" " * 300 + b"\n", "AP")["AP"] == 1.0
