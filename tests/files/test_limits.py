"""What files may hold at the limits: just below, at and just above each of them."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
import rankscope as rs
from rankscope._inputs.files import TextSource, read_first_line
from rankscope._inputs.lakes import find_table
from rankscope._inputs.reading import refuse_unnamed_columns
from rankscope._inputs.recognition import Input

from tests.files.opened import open_table
from tests.refusals import refuses_if

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = {"q": {"d": 1.0}}
MEBIBYTE = 1 << 20


@pytest.mark.parametrize(("columns", "is_refused"), [(1023, False), (1024, False), (1025, True)])
def test_a_csv_file_has_1_024_columns_at_most(
    columns: int, *, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    names = ["query_id", "doc_id", "relevance", *(f"c{at}" for at in range(columns - 3))]
    path.write_text(f"{','.join(names)}\nq,d,1{',0' * (columns - 3)}\n")
    with refuses_if(is_refused, rs.LimitError, match="at most 1024 columns, found 1025"):
        assert rs.evaluate(path, RUN, "P@1")["P@1"] == 1.0


def refuses(code: str, act: Callable[..., object], *given: Any) -> bool:  # noqa: ANN401 - whatever it takes
    """Whether a call is refused for this reason. No other error is expected."""
    try:
        act(*given)
    except rs.errors.InputError as error:
        if error.code != code:
            raise
        return True
    return False


def read_rows(text: str, form: str) -> int:
    with open_table(text.encode(), form) as table:
        return sum(batch.num_rows for batch in table)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_row_of_csv_has_about_4_mebibytes_at_most(quote: str) -> None:
    for size, is_refused in ((8, True), (3, False)):
        cell = f"{quote}{'x' * (size * MEBIBYTE)}{quote}"
        text = f"query_id,score,more\nq,1,{cell}\nq,1,x\n"
        assert refuses("line_length", read_rows, text, "csv") == is_refused


def test_a_first_line_is_read_up_to_64_kibibytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for length in (65_535, 65_536, 65_537):
        path.write_text("x" * length + "\nq\n")
        assert len(read_first_line(str(path))) == min(length, 65_536)


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


@pytest.mark.parametrize(("levels", "is_found"), [(6, True), (7, True), (8, False)])
def test_a_table_of_a_lake_is_found_seven_folders_above(
    levels: int, *, is_found: bool, tmp_path: Path
) -> None:
    (tmp_path / "_delta_log").mkdir()
    folder = tmp_path.joinpath(*(f"part={at}" for at in range(levels)))
    folder.mkdir(parents=True)
    assert (find_table(str(folder)) is not None) == is_found


@pytest.mark.parametrize("packed", [1, 500_000])
def test_a_packed_byte_holds_150_bytes_at_most_beyond_64_mebibytes(packed: int) -> None:
    most = max(64 * MEBIBYTE, 150 * packed)
    for size in (most, most + 1):
        source = TextSource(BytesIO(), "run.gz", encoding="utf-8")
        source._packed, source._raw.count = BytesIO(bytes(size)), packed
        with refuses_if(size > most, rs.LimitError, match="at most 150 bytes from one packed byte"):
            assert len(source.read(size)) == size


def test_integer_ids_in_json_lines_have_64_bits() -> None:
    for doc in (2**63 - 1, -(2**63)):
        assert evaluate_json(f'{doc}, "relevance": 1', doc=doc) == 1.0
    for doc in (2**63, -(2**63) - 1):
        with pytest.raises(rs.FormatError, match=f"found {doc}"):
            evaluate_json(f'{doc}, "relevance": 1')


def evaluate_json(rest: str, *, doc: object = "d") -> float:
    """The value of a list with this document, whose judgment is a line of JSON."""
    text = f'{{"query_id": "q", "doc_id": {rest}}}\n'.encode()
    found = rs.evaluate(rs.File(text, "jsonl"), {"q": {doc: 1.0}}, "P@1")
    return float(found["P@1"])


@pytest.mark.parametrize("length", [119, 120, 121])
def test_a_wrong_value_of_json_is_shown_in_120_characters(length: int) -> None:
    value = "x" * (length - 2)
    with pytest.raises(rs.FormatError) as caught:
        evaluate_json(f'"d", "relevance": "{value}"')
    written = f'"{value}"'
    assert (written if length <= 120 else f"{written[:120]}…") in str(caught.value)


@pytest.mark.parametrize(
    ("role", "line", "is_refused"),
    [
        ("history", "1\t2\t3\t99999999", False),
        ("history", "1\t2\t3\t100000000", True),
        ("history", "1\t2\t3\t100000001", True),
        ("history", "1\t2\t100000000", False),
        ("history", "1\t2\t3\t4\t100000000", False),
        ("items", "1|Toy Story|1995", False),
        ("items", "1|Toy Story|1995|x", True),
        ("items", "1|Toy Story|1995|x|y", True),
        ("qrels", "1\t2\t3\t100000000", True),
        ("qrels", "1\t0\t3\t100000000", False),
    ],
)
def test_four_columns_with_a_time_or_three_bars_are_files_of_movielens(
    role: str, line: str, *, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "u.data"
    path.write_text(f"{line}\n")
    found = Input("file", str(path), role)
    with refuses_if(
        is_refused, rs.FormatError, match="expected a first line that names the columns"
    ):
        refuse_unnamed_columns(found, role)
