"""A run that is fused into a file is that of memory, whatever the input and the limits."""

from __future__ import annotations

import gzip
import logging
import sys
import tempfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset
from rankscope.fusion.settings import METHODS, SCALES, TIES

from tests.generated import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Row = tuple[str, str, float]

SCORES = st.integers(1, 40).map(lambda n: n / 8)
DOCS = st.dictionaries(st.sampled_from([f"d{n}" for n in range(9)]), SCORES, min_size=1, max_size=6)
QUERIES = [f"q{n}" for n in range(5)]
RUN = st.dictionaries(st.sampled_from(QUERIES), DOCS, min_size=1)
WEIGHTS = [1.0, 0.0, 0.5]


def rows_of(run: dict[str, dict[str, float]]) -> list[Row]:
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def as_text(rows: list[Row]) -> bytes:
    return "".join(f"{query} Q0 {doc} 0 {score!r} t\n" for query, doc, score in rows).encode()


def as_frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def as_dict(rows: list[Row]) -> dict[str, dict[str, float]]:
    lists: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        lists.setdefault(query, {})[doc] = score
    return lists


FILES: dict[str, Callable[[Path, list[Row]], object]] = {
    "run": lambda path, rows: path.write_bytes(as_text(rows)),
    "gz": lambda path, rows: path.write_bytes(gzip.compress(as_text(rows))),
    "parquet": lambda path, rows: as_frame(rows).write_parquet(path),
    "csv": lambda path, rows: as_frame(rows).write_csv(path),
}
OBJECTS: dict[str, Callable[[list[Row]], object]] = {
    "bytes": as_text,
    "dict": as_dict,
    "frame": as_frame,
    "lazy": lambda rows: as_frame(rows).lazy(),
    "dataset": lambda rows: dataset.dataset(as_frame(rows).to_arrow()),
    "reader": lambda rows: pa.RecordBatchReader.from_stream(as_frame(rows).to_arrow()),
    "relation": lambda rows: duckdb.from_arrow(as_frame(rows).to_arrow()),
}


def give(folder: Path, runs: list[list[Row]], form: str) -> list[Any]:
    """Return runs in some form, those in files in a folder."""
    if form in OBJECTS:
        return [OBJECTS[form](rows) for rows in runs]
    paths = [folder / f"{number}.{form}" for number in range(len(runs))]
    for path, rows in zip(paths, runs, strict=True):
        FILES[form](path, rows)
    return [*paths]


@st.composite
def fusions(draw: Callable[..., Any]) -> dict[str, object]:
    method = draw(st.sampled_from(sorted(METHODS)))
    choices: dict[str, object] = {"method": method, "ties": draw(st.sampled_from(TIES))}
    if not METHODS[method].is_of_ranks:
        choices["normalize"] = draw(st.sampled_from(sorted(SCALES)))
    if METHODS[method].takes_weights and draw(st.booleans()):
        choices["weights"] = WEIGHTS
    choices["depth"] = draw(st.none() | st.integers(1, 4))
    return choices


LIMITS = st.fixed_dictionaries(
    {"threads": st.integers(1, 3), "memory": st.sampled_from([None, "1MiB"])}
)


@pytest.mark.parametrize("form", [*FILES, *OBJECTS])
@examples(25)
@given(
    runs=st.lists(RUN.map(rows_of), min_size=3, max_size=3),
    fusion=fusions(),
    limits=LIMITS,
    shuffle=st.none() | st.randoms(use_true_random=False).map(lambda random: random.shuffle),
)
def test_the_file_is_that_of_memory(
    form: str,
    runs: list[list[Row]],
    fusion: dict[str, Any],
    limits: dict[str, Any],
    shuffle: Callable[[list[Row]], None] | None,
) -> None:
    for rows in runs:
        if shuffle is not None:
            shuffle(rows)
    whole = rs.fuse([as_text(rows) for rows in runs], **fusion)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "fused"
        found = rs.fuse_to_file(give(Path(name), runs, form), path, **limits, **fusion)
        assert path.read_bytes() == b"".join(whole.lines())
    for field in ("names", "missing", "queries", "documents", "label", "weights"):
        if field != "names" or form not in FILES:
            assert getattr(found, field) == getattr(whole, field)


def make_run(queries: list[int], seed: int) -> bytes:
    """Return a run of 100 documents a query."""
    docs = (
        (query, doc, (doc * 7919 + query * seed) % 1009) for query in queries for doc in range(100)
    )
    return "".join(f"{query} Q0 d{doc * seed} 0 {score} t\n" for query, doc, score in docs).encode()


@pytest.fixture
def notes() -> Iterator[StringIO]:
    """What is said on standard error."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("rankscope").addHandler(handler)
    yield stream
    logging.getLogger("rankscope").removeHandler(handler)


@pytest.mark.parametrize("form", ["run", "csv"])
def test_queries_in_other_orders_go_to_temporary_files(
    tmp_path: Path, notes: StringIO, form: str
) -> None:
    orders = [[*range(300)], [*range(300)][::-1], [300, 3]]
    texts = [make_run(order, seed) for seed, order in enumerate(orders, 1)]
    lines = [map(str.split, text.decode().splitlines()) for text in texts]
    rows = [[(q, d, float(s)) for q, _, d, _, s, _ in of_run] for of_run in lines]
    runs = give(tmp_path, rows, form)
    expected = rs.fuse(runs, "combmnz")
    found = rs.fuse_to_file(
        runs, tmp_path / "fused", "combmnz", memory="1MiB", spill_folder=tmp_path
    )
    assert (tmp_path / "fused").read_bytes() == b"".join(expected.lines())
    assert found.missing == expected.missing == (1, 1, 299)
    assert "the input exceeds the memory limit of 1.0 MiB" in notes.getvalue()
    assert "to temporary files, and removed them" in notes.getvalue()
    assert {path.name for path in tmp_path.iterdir()} == {
        *(Path(str(run)).name for run in runs),
        "fused",
    }


def test_queries_in_one_order_need_no_temporary_files(tmp_path: Path, notes: StringIO) -> None:
    texts = [make_run([*range(2000)], 3), make_run([*range(2000)], 1)]
    rs.fuse_to_file(texts, tmp_path / "fused", memory="8MiB", spill_folder=tmp_path)
    assert (tmp_path / "fused").read_bytes() == b"".join(rs.fuse(texts).lines())
    assert notes.getvalue() == ""


BROKEN = [
    b"q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t\n",
    b"q1 Q0 d1 1 nan t\n",
    b"q1 Q0 d1 1 1.0 t\nq2 Q0 d1\n",
    b"",
    b"q1 Q0 d1 1 -1.0 t\n",
    b"q9 Q0 d1 1 1.0 t\nq1 Q0 d2 1 0.0 t\nq9 Q0 d1 1 1.0 t\n",
]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("broken", BROKEN)
def test_errors_are_those_of_memory_and_leave_the_file_as_it_was(
    tmp_path: Path, broken: bytes, place: int
) -> None:
    runs = [make_run([1, 2, 3], 1), make_run([1, 4], 2)]
    runs.insert(place, broken)
    # A mistake in a later run isn't the first one, though it comes sooner.
    runs.append(b"q1 Q0 d1\n" if place == 2 else make_run([1], 5))
    path = tmp_path / "fused"
    path.write_text("as it was")
    files: list[object] = []
    for number, run in enumerate(runs):
        (tmp_path / str(number)).write_bytes(run)
        files.append(tmp_path / str(number))
    with pytest.raises(rs.RankscopeError) as expected:
        rs.fuse(files, "combsum", normalize="max")
    for memory in (None, "1MiB"):
        with pytest.raises(rs.RankscopeError) as raised:
            rs.fuse_to_file(files, path, "combsum", normalize="max", memory=memory)
        assert str(raised.value) == str(expected.value)
        assert raised.value.hint == expected.value.hint
        assert path.read_text() == "as it was"
        assert len([*tmp_path.iterdir()]) == len(runs) + 1


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(rs.FileError, match="nowhere"):
        rs.fuse_to_file([make_run([1], 1), tmp_path / "nowhere.run"], tmp_path / "fused")
    assert not (tmp_path / "fused").exists()


@pytest.mark.parametrize("by_link", [False, True])
def test_a_run_that_is_fused_is_not_overwritten(tmp_path: Path, *, by_link: bool) -> None:
    path, other = tmp_path / "a.run", tmp_path / "b.run"
    path.write_bytes(as_text([("q", "a", 1.0)]))
    other.write_bytes(as_text([("q", "b", 1.0)]))
    output = tmp_path / "link.run" if by_link else path
    if by_link:
        output.symlink_to(path)
    for runs in ([path, other], {"x": rs.File(str(path)), "y": other}):
        with pytest.raises(rs.UsageError, match="is also an input"):
            rs.fuse_to_file(runs, output)
    assert path.read_bytes() == as_text([("q", "a", 1.0)])


def test_what_is_no_path_is_refused() -> None:
    runs = [make_run([1], 1), make_run([1], 2)]
    with pytest.raises(rs.UsageError, match="expected the path of a file to write, found StringIO"):
        rs.fuse_to_file(runs, StringIO())


def test_a_single_query_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    lines = b"".join(b"q Q0 d%d 0 1 t\n" % doc for doc in range(30_000))
    again = b"p Q0 d 0 1 t\n" + lines + b"p Q0 e 0 1 t\n"
    with pytest.raises(rs.OutOfMemoryError, match="query `q` has 60000 rows"):
        rs.fuse_to_file([lines, again], tmp_path / "fused", memory="1MiB")


def test_standard_output_gets_the_run_once_it_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stdout = type("Stdout", (), {"buffer": BytesIO()})()
    monkeypatch.setattr(sys, "stdout", stdout)
    runs = [make_run([1, 2], 1), make_run([2, 1], 2)]
    rs.fuse_to_file(runs, "-", tag="mine")
    expected = b"".join(rs.fuse(runs).lines(tag="mine"))
    assert stdout.buffer.getvalue() == expected
    with pytest.raises(rs.FormatError):
        rs.fuse_to_file([*runs, b"q1 Q0"], "-")
    assert stdout.buffer.getvalue() == expected


def test_rankings_and_fused_runs_are_fused_as_what_they_hold(tmp_path: Path) -> None:
    qrels = {"1": {"d1": 1}, "2": {"d2": 0}}
    text = make_run([1, 2], 1)
    rankings = rs.Rankings.from_run(qrels, text)
    fused = rs.fuse([text, text])
    rs.fuse_to_file([rankings, fused, text], tmp_path / "fused")
    expected = rs.fuse([text, b"".join(fused.lines()), text])
    assert (tmp_path / "fused").read_bytes() == b"".join(expected.lines())


def test_what_was_written_describes_itself(tmp_path: Path) -> None:
    path = tmp_path / "fused"
    runs = {"one": make_run([1], 1), "other": make_run([1, 2], 1)}
    found = rs.fuse_to_file(runs, path)
    assert repr(found) == f"rrf(k=60) of one and other: 2 queries, 200 documents, in {path}"
    qrels = {"1": {"d1": 1}}
    assert dict(rs.evaluate(qrels, found.path, "RR")) == dict(
        rs.evaluate(qrels, rs.fuse(runs), "RR")
    )
