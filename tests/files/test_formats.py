"""A folder of table files is one table in every format, and each row knows its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.refusals import refused
from tests.tabular import write_table

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}


def write(folder: Path, ending: str, query: str, score: float | None = -2.0) -> Path:
    columns = {"qid": [query] * 3, "docno": [*"xyz"], "label": [1, 0, -1]}
    path = folder / f"t.{WRITTEN.get(ending, ending)}"
    write_table(columns | {"score": [0.5, 1.0, score]}, path)
    return path.rename(folder / f"t.{ending}")


@pytest.mark.parametrize("ending", [*["csv", "tsv", "jsonl", "parquet", "arrow"], *WRITTEN])
def test_a_folder_and_a_pattern_are_all_their_files(ending: str, tmp_path: Path) -> None:
    for query, part in enumerate(("day=1", "day=2", ".hidden")):
        (tmp_path / part).mkdir()
        last = write(tmp_path / part, ending, f"q{query}")
    (tmp_path / "_temporary").write_bytes(b"?")
    for path in (tmp_path, tmp_path / "d*" / last.name):
        seen: list[int] = []
        found = rs.evaluate(path, "RR", progress=lambda done, _, seen=seen: seen.append(done))  # type: ignore[misc]
        assert found.to_dict() == {"q0": {"RR": 1 / 2}, "q1": {"RR": 1 / 2}}
        assert seen == sorted(seen)
        assert seen[-1] == 2 * last.stat().st_size
    second = write(tmp_path / "day=2", ending, "q1", None)
    error = refused(lambda: rs.evaluate(tmp_path, "RR"), "missing_score")
    assert (error.file, error.line) == (str(second), 4 if ending in {"csv", "tsv"} else 3)


@pytest.mark.parametrize("ranks", [(1, 2, 4), (0, 1, 2), (5, 6, 70)])
def test_ranks_order_whatever_they_begin_with(ranks: tuple[int, ...]) -> None:
    """Gaps and another first rank change no value, and are noted."""
    rows = zip("abc", (0, 1, 2), ranks, strict=True)
    text = "".join(f"q,{doc},{grade},{rank}\n" for doc, grade, rank in rows)
    given = rs.File(f"qid,doc,label,rank\n{text}".encode(), "csv")
    expected = rs.evaluate({"qid": ["q"] * 3, "label": [0, 1, 2], "score": [3, 2, 1]}, "nDCG")
    evaluation = rs.evaluate(given, "nDCG")
    assert dict(evaluation) == dict(expected)
    assert [note.code for note in evaluation.notes] == ["rank_gap"]
