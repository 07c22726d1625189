"""Limits of rows and of nesting: just below, at and just above each of them, in whatever place."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.inputs.files.blocks import Blocks
from rankscope.inputs.files.cells import name_mistake
from rankscope.inputs.files.formats import read_first_line
from rankscope.inputs.files.opening import TextSource
from rankscope.inputs.files.quotes import QuotedBlocks

from tests.files.opened import open_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

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


def test_a_first_line_is_read_up_to_64_kibibytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for length in (65_535, 65_536, 65_537):
        path.write_text("x" * length + "\nq\n")
        assert len(read_first_line(str(path))) == min(length, 65_536)
