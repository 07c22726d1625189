"""What files may hold at the limits: just below, at and just above each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.adapters.files.jsonmistakes import read_object
from rankscope.adapters.files.lakehouse import _find_table
from rankscope.adapters.files.logical import Allowance

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = {"q": {"d": 1.0}}


@pytest.mark.parametrize(("columns", "is_refused"), [(1023, False), (1024, False), (1025, True)])
def test_a_csv_file_has_1_024_columns_at_most(
    columns: int, *, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    names = ["query_id", "doc_id", "relevance", *(f"c{at}" for at in range(columns - 3))]
    path.write_text(f"{','.join(names)}\nq,d,1{',0' * (columns - 3)}\n")
    if is_refused:
        with pytest.raises(rs.LimitError, match="at most 1024 columns, found 1025"):
            rs.evaluate(path, RUN, "P@1")
    else:
        assert rs.evaluate(path, RUN, "P@1")["P@1"] == 1.0


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("judgments.csv", lambda size: f"query_id,doc_id,relevance,x\nq,d,1,{'x' * (size - 6)}\n"),
        ("judgments.letor", lambda size: f"1 qid:q #docid = d {'x' * (size - 19)}\n"),
    ],
    ids=["csv", "letor"],
)
def test_a_row_has_a_mebibyte_at_most(
    name: str, make: Callable[[int], str], tmp_path: Path
) -> None:
    path = tmp_path / name
    for size in (2**20 - 1, 2**20):
        text = make(size)
        assert len(text.splitlines()[-1]) == size
        path.write_text(text)
        assert rs.evaluate(path, RUN, "P@1")["P@1"] == 1.0
    path.write_text(make(2**20 + 1))
    with pytest.raises(rs.LimitError):
        rs.evaluate(path, RUN, "P@1")


@pytest.mark.parametrize(("depth", "is_refused"), [(31, False), (32, False), (33, True)])
def test_lists_and_objects_are_nested_32_deep_at_most(depth: int, *, is_refused: bool) -> None:
    inside = depth - 1
    text = f'{{"doc_id": {"[" * inside}{"]" * inside}}}'.encode()
    if is_refused:
        with pytest.raises(rs.LimitError, match="nested at most 32 deep"):
            read_object(text, ())
    else:
        assert list(read_object(text, ())) == ["doc_id"]


@pytest.mark.parametrize(("length", "is_cut"), [(119, False), (120, False), (121, True)])
def test_a_wrong_grade_is_shown_in_120_characters(
    length: int, *, is_cut: bool, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(f"query_id,doc_id,relevance\nq,d,{'x' * length}\n")
    with pytest.raises(rs.FormatError) as caught:
        rs.evaluate(path, RUN, "P@1")
    shown = f"{'x' * 120}…" if is_cut else "x" * length
    assert f"`{shown}`" in str(caught.value)


@pytest.mark.parametrize("stored", [1, 67_108, 67_109, 100_000])
def test_a_stored_byte_holds_1_000_bytes_or_a_file_64_mebibytes(stored: int) -> None:
    most = max(64 * 2**20, 1000 * stored)
    allowance = Allowance("run.parquet", stored)
    for logical in (most - 1, most):
        allowance.check(logical, 10)
    with pytest.raises(rs.LimitError, match="at most 1000 bytes from one stored byte"):
        allowance.check(most + 1, 10)


@pytest.mark.parametrize(("levels", "is_found"), [(6, True), (7, True), (8, False)])
def test_a_table_of_a_lake_is_found_seven_folders_above(
    levels: int, *, is_found: bool, tmp_path: Path
) -> None:
    (tmp_path / "_delta_log").mkdir()
    folder = tmp_path.joinpath(*(f"part={at}" for at in range(levels)))
    folder.mkdir(parents=True)
    assert (_find_table(str(folder)) is not None) == is_found
