"""What files may hold at the limits: just below, at and just above each of them."""

from __future__ import annotations

from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import rankscope as rs
from rankscope._inputs.files import TextSource, read_first_line
from rankscope._inputs.files.columnar import ParquetFile
from rankscope._inputs.files.delimited import QuotedBlocks
from rankscope._inputs.files.jsonmistakes import check_value
from rankscope._inputs.files.logical import Allowance
from rankscope._inputs.lakes import find_table
from rankscope._inputs.recognition import Input
from rankscope._inputs.text import Blocks
from rankscope._inputs.text_lines import read_numbers_of, refuse_unnamed_columns

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


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "query_id,score,more\nq,1,x{}\n"),
        ("csv", 'query_id,score,more\nq,1,"x{}"\n'),
        ("csv", 'query_id,score,more\nq,1,"x{}"\n\n\nq,1,x\n'),
        ("csv", 'query_id,score,more\nq,1,"x{}"'),
        ("letor", "1 qid:1 1:1{}\n"),
    ],
)
def test_a_row_has_a_mebibyte_at_most(form: str, text: str) -> None:
    short = max(len(line) for line in text.splitlines()[1:] or [text.rstrip("\n")]) - len("{}")
    for length in (MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1):
        whole = text.format("0" * (length - short))
        assert max(map(len, whole.splitlines())) == length
        assert refuses("line_length", read_rows, whole, form) == (length > MEBIBYTE)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\nb\n", "\n\nb"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_record_is_as_long_as_its_limit_at_most(end: str, quote: str) -> None:
    for length in (15, 16, 17):
        text = f"a\n{quote}{'x' * (length - 2 * len(quote))}{quote}{end}".encode()
        blocks = Blocks if not quote else QuotedBlocks
        cut: Any = (16, b",") if quote else (16,)
        source = TextSource(BytesIO(text), "a", encoding="utf-8")
        found = refuses("line_length", list, blocks(source, *cut))
        assert found == (length > 16)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("brackets", ["[]", ("{'a':", "}")])
def test_json_is_nested_32_deep_at_most(row: int, end: str, brackets: tuple[str, str]) -> None:
    opens, closes = brackets
    for depth in (31, 32, 33):
        inner = f"{opens * (depth - 1)}{closes * (depth - 1)}".replace("'", '"')
        inner = inner.replace(":}", ":1}")
        lines = ['{"query_id":"q","score":1}', f'{{"query_id":"q","score":1,"more":{inner}}}']
        text = "\n".join(lines if row else lines[::-1]) + end
        assert refuses("depth", read_rows, text, "jsonl") == (depth > 32)


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
    assert (find_table(str(folder)) is not None) == is_found


@pytest.mark.parametrize(("length", "is_refused"), [(4095, False), (4096, False), (4097, True)])
def test_a_file_of_numbers_has_lines_of_4_096_bytes_at_most(
    length: int, *, is_refused: bool
) -> None:
    text = b"1".rjust(length) + b"\n"
    with refuses_if(is_refused, rs.LimitError):
        assert read_numbers_of(text, "scores", "score").tolist() == [1.0]


@pytest.mark.parametrize(
    ("kind", "most", "named"),
    [("columns", 16_384, "columns"), ("row_groups", 100_000, "row groups")],
)
def test_a_file_of_columns_has_so_many_columns_and_row_groups(
    kind: str, most: int, named: str
) -> None:
    for count in (most - 1, most, most + 1):
        footer = SimpleNamespace(**{"columns": 1, "row_groups": 1} | {kind: count})
        file: Any = SimpleNamespace(_footer=footer, name="run.parquet")
        if count <= most:
            ParquetFile._check_limits(file)
        else:
            with pytest.raises(rs.LimitError, match=f"at most {most} {named}, found {count}"):
                ParquetFile._check_limits(file)


@pytest.mark.parametrize("packed", [1, 500_000])
def test_a_packed_byte_holds_150_bytes_at_most_beyond_64_mebibytes(packed: int) -> None:
    most = max(64 * MEBIBYTE, 150 * packed)
    for size in (most, most + 1):
        source = TextSource(BytesIO(), "run.gz", encoding="utf-8")
        source._packed, source._raw.count = BytesIO(bytes(size)), packed
        with refuses_if(size > most, rs.LimitError, match="at most 150 bytes from one packed byte"):
            assert len(source.read(size)) == size


def test_integers_in_json_lines_are_exact_up_to_2_to_the_53() -> None:
    for grade in (2**53 - 1, 2**53, 2**53 + 2):
        assert evaluate_json(f'"d", "relevance": {grade}') == 1.0
    for grade in (2**53 + 1, -(2**53) - 1):
        with pytest.raises(rs.InputError):
            evaluate_json(f'"d", "relevance": {grade}')


def test_integer_ids_in_json_lines_have_64_bits() -> None:
    for doc in (2**63 - 1, -(2**63)):
        assert evaluate_json(f'{doc}, "relevance": 1', doc=doc) == 1.0
        check_value(doc, "doc")
    for doc in (2**63, -(2**63) - 1):
        with pytest.raises(rs.FormatError, match=f"integers of 64 bits, found {doc}"):
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
