"""Configuration files that would take a long time or end in a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.gate.file import read_gate_file
from rankscope.monitor.notify.channels import MOST_URL, read_channels
from rankscope.toml_file import TomlFlaw, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_BYTES = 256 * 1024
MOST_DOTS = 100

READERS: dict[str, Callable[[Path], object]] = {
    "gate": read_gate_file,
    "channels": lambda path: read_channels(path, {"A": "x" * 100_000, "B": "b"}),
}
GOOD = {
    "gate": "[[budget]]\nmeasure = 'AP'\nmin = 0.5\n",
    "channels": "[channels.oncall]\nurl = 'slack://a/b/c'\n",
}


def outcome(reader: str, path: Path, text: str) -> str:
    """The message of the refusal, or an empty text."""
    path.write_text(text)
    try:
        READERS[reader](path)
    except rs.errors.FormatError as error:
        return error.message if error.file == str(path) and error.hint else repr(error)
    return ""


@pytest.mark.parametrize("reader", READERS)
def test_a_file_may_have_so_many_bytes_and_not_one_more(reader: str, tmp_path: Path) -> None:
    whole = GOOD[reader] + "#" * (MOST_BYTES - len(GOOD[reader]))
    assert outcome(reader, tmp_path / "a.toml", whole) == ""
    expected = f"expected at most {MOST_BYTES // 1024} KiB, found more"
    assert outcome(reader, tmp_path / "a.toml", whole + "#") == expected


@pytest.mark.parametrize("reader", READERS)
def test_a_line_may_have_so_many_dots_and_not_one_more(reader: str, tmp_path: Path) -> None:
    dots = GOOD[reader] + "#" + "." * MOST_DOTS
    assert outcome(reader, tmp_path / "a.toml", dots) == ""
    expected = f"expected at most {MOST_DOTS} dots in a line, found more"
    assert outcome(reader, tmp_path / "a.toml", dots + ".") == expected


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "key",
    [
        ".".join(["a"] * 20_000) + " = 1",
        "[" + ".".join(["a"] * 20_000) + "]\n" + "b = 1\n" * 20_000,
        " . ".join(['"a"'] * 20_000) + " = 1",
    ],
    ids=["key", "table", "quoted"],
)
def test_a_key_of_20000_parts_is_refused_before_it_is_read(
    reader: str, key: str, tmp_path: Path
) -> None:
    assert "dots in a line" in outcome(reader, tmp_path / "a.toml", key)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, str(2**63), str(-(2**63) - 1)])
def test_an_integer_beyond_64_bits_is_refused(reader: str, number: str, tmp_path: Path) -> None:
    table = "[[budget]]\nmeasure = 'AP'\nmin = " if reader == "gate" else "public_url = "
    expected = "expected integers of 64 bits, found a larger one"
    assert outcome(reader, tmp_path / "a.toml", table + number) == expected
    least = table + "[1, " + number + "]"
    assert outcome(reader, tmp_path / "a.toml", least) == expected


@pytest.mark.parametrize("integer", [-(2**63), -(2**63) + 1, 2**63 - 2, 2**63 - 1])
def test_integers_of_64_bits_are_read(integer: int, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"a = [{integer}]\n")
    assert read_toml(str(path), refuse_none, hint="")[1] == {"a": [integer]}


def refuse_none(flaw: TomlFlaw) -> rs.errors.FormatError:
    raise AssertionError(flaw)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${" * 20_000, f"at most {MOST_URL} characters"),
        ("${A}" * 20_000, f"at most {MOST_URL} characters"),
        ("slack://" + "${" * 1000, "the name of a variable between ${ and }"),
        ("slack://${B", "the name of a variable between ${ and }"),
        ("slack://${A}", "an address of Apprise"),
        ("slack://${B}", ""),
    ],
)
def test_variables_of_an_address_are_replaced_within_its_length(
    value: str, expected: str, tmp_path: Path
) -> None:
    text = f"[channels.oncall]\nurl = '{value}'\n"
    found = outcome("channels", tmp_path / "a.toml", text)
    assert (expected in found) if expected else not found
