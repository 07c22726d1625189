"""Limits of the readers of files: just below, at and just above each of them."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.adapters.files.blocks import Blocks
from rankscope.adapters.files.cells import name_mistake
from rankscope.adapters.files.columnar import ParquetFile
from rankscope.adapters.files.formats import read_first_line
from rankscope.adapters.files.jsonmistakes import check_value
from rankscope.adapters.files.lakehouse import refuse_lakehouse
from rankscope.adapters.files.logical import Allowance
from rankscope.adapters.files.numbers import read_numbers_of
from rankscope.adapters.files.opening import TextSource
from rankscope.adapters.files.quotes import QuotedBlocks
from rankscope.adapters.files.table import open_batches
from rankscope.adapters.files.text_lines import refuse_unnamed_columns
from rankscope.adapters.inputs import Input

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

WANTED = dict.fromkeys(("query", "doc", "relevance", "score", "rank"))
MEBIBYTE = 1 << 20


def is_refused(code: str, act: Callable[..., object], *given: Any) -> bool:  # noqa: ANN401 - whatever it takes
    """Whether a call is refused for this reason. No other error is expected."""
    try:
        act(*given)
    except rs.errors.InputError as error:
        if error.code != code:
            raise
        return True
    return False


def read(text: str, form: str) -> int:
    with open_batches(text.encode(), wanted=WANTED, format=form) as table:
        return sum(batch.num_rows for batch in table)


@pytest.mark.parametrize("packed", [1, 1 << 20])
def test_text_has_150_bytes_for_each_that_is_packed_beyond_64_mebibytes(packed: int) -> None:
    limit = max(64 * MEBIBYTE, 150 * packed)
    for given in (limit - 1, limit, limit + 1):
        source: Any = SimpleNamespace(_given=given, _raw=SimpleNamespace(count=packed), name="a")
        found = is_refused("decompressed_bytes", TextSource._check_ratio, source)
        assert found == (given > limit)


@pytest.mark.parametrize("stored", [1, 1 << 20])
def test_columns_have_1000_bytes_for_each_that_is_stored_beyond_64_mebibytes(stored: int) -> None:
    limit = max(64 * MEBIBYTE, 1000 * stored)
    for logical in (limit - 1, limit, limit + 1):
        found = is_refused("decompressed_bytes", Allowance("a", stored).check, logical, 1)
        assert found == (logical > limit)


def test_a_header_has_1024_names_at_most() -> None:
    for count in (1023, 1024, 1025):
        names = ["query_id", "score", *map(str, range(count - 2))]
        text = f"{','.join(names)}\n{','.join('1' * count)}\n"
        assert is_refused("columns", read, text, "csv") == (count > 1024)


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
        assert is_refused("line_length", read, whole, form) == (length > MEBIBYTE)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\nb\n", "\n\nb"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_record_is_as_long_as_its_limit_at_most(end: str, quote: str) -> None:
    for length in (15, 16, 17):
        text = f"a\n{quote}{'x' * (length - 2 * len(quote))}{quote}{end}".encode()
        blocks = Blocks if not quote else QuotedBlocks
        cut: Any = (16, b",") if quote else (16,)
        source = TextSource(io.BytesIO(text), "a", encoding="utf-8")
        found = is_refused("line_length", list, blocks(source, *cut))
        assert found == (length > 16)


def test_a_line_with_a_number_has_4096_bytes_at_most() -> None:
    for length in (4095, 4096, 4097):
        text = b"1\n" + b"1".rjust(length) + b"\n2\n"
        found = is_refused("line_length", read_numbers_of, text, "a", "score")
        assert found == (length > 4096)


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
        assert is_refused("depth", read, text, "jsonl") == (depth > 32)


@pytest.mark.parametrize("least", [-(2**63), -(2**63) + 1])
def test_ids_are_integers_of_64_bits(least: int) -> None:
    for integer in (least - 1, least, -least - 1, -least):
        found = is_refused("integer_range", check_value, integer, "doc")
        assert found == (not -(2**63) <= integer < 2**63)


def test_a_score_in_json_is_exact() -> None:
    for score in (2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3):
        for signed in (score, -score):
            text = f'{{"query_id":"q","score":{signed}}}\n' * 2
            found = is_refused("integer_range", read, text, "jsonl")
            assert found == (int(float(signed)) != signed)


@pytest.mark.parametrize("letter", ["x", "ü"])
def test_an_error_shows_120_characters_of_a_value(letter: str) -> None:
    for count in (119, 120, 121):
        shown = letter * min(count, 120) + "…" * (count > 120)
        mistake = name_mistake(letter * count, "score")
        assert mistake is not None
        assert mistake.value == shown
    mistake = name_mistake("\x07", "score")
    assert mistake is not None
    assert mistake.value == r"\x07"


def test_an_error_shows_120_characters_of_json() -> None:
    for count in (117, 118, 119):  # there are two quotes around them
        with pytest.raises(rs.FormatError) as refused:
            check_value("x" * count, "score")
        whole = f'"{"x" * count}"'
        assert (whole in refused.value.message) == (len(whole) <= 120)
        assert ("…" in refused.value.message) == (len(whole) > 120)
        assert whole[:120] in refused.value.message


@pytest.mark.parametrize(
    ("field", "most", "code"),
    [("columns", 16_384, "columns"), ("row_groups", 100_000, "row_groups")],
)
def test_parquet_has_limits(field: str, most: int, code: str) -> None:
    for count in (most - 1, most, most + 1):
        footer = SimpleNamespace(**{"columns": 1, "row_groups": 1, field: count})
        file: Any = SimpleNamespace(_footer=footer, name="a")
        assert is_refused(code, ParquetFile._check_limits, file) == (count > most)


def test_a_lakehouse_is_found_up_to_eight_folders_above_a_file(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    for count in (7, 8, 9):
        folder = tmp_path.joinpath(*map(str, range(count - 1)))
        folder.mkdir(parents=True, exist_ok=True)
        found = is_refused("lakehouse_table", refuse_lakehouse, "a", [str(folder)])
        assert found == (count <= 8)


def test_a_first_line_is_read_up_to_64_kibibytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for length in (65_535, 65_536, 65_537):
        path.write_text("x" * length + "\nq\n")
        assert len(read_first_line(str(path))) == min(length, 65_536)


@pytest.mark.parametrize(
    ("role", "line", "is_known"),
    [
        ("history", "1\t2\t3\t99999999", False),
        ("history", "1\t2\t3\t100000000", True),
        ("history", "1\t2\t3\t100000001", True),
        ("history", "1\t2\t881250949", False),
        ("history", "1\t2\t3\t4\t881250949", False),
        ("items", "1|2|3", False),
        ("items", "1|2|3|4", True),
        ("items", "1|2|3|4|5", True),
        ("qrels", "1\t2\t881250949", False),
        ("qrels", "1\t2\t3\t881250949", True),
        ("qrels", "1\t2\t3\t4\t881250949", False),
    ],
)
def test_files_of_movielens_are_known_by_their_columns_and_times(
    role: str, line: str, is_known: bool, tmp_path: Path
) -> None:
    path = tmp_path / "u.data"
    path.write_text(line + "\n")
    found = Input("file", str(path), "u.data")
    assert is_refused("columns", refuse_unnamed_columns, found, role) == is_known
