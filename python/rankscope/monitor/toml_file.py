"""Reads the files of a few kilobytes in which people configure something, in TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankscope.errors import FileError, FormatError

MOST_BYTES = 256 << 10
ENDING = ".toml"
MOST_FILES = 1000
MOST_DOTS = 100
"""In one line. The time to read a key grows with the square of its parts, which dots divide."""
INTEGERS = range(-(2**63), 2**63)
"""Those that TOML asks for. Python can't print much larger ones."""
TOO_LARGE = ("expected integers of 64 bits, found a larger one", "write a smaller number")
PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlFlaw:
    """What is wrong with a file.

    Args:
        problem: What is wrong, without anything that the file says.
        quoted: The same where it may quote the file, which may hold secrets.
        hint: What to do about it; empty where only the caller knows.
        line: The line, 1-based, if it is known.
        column: The column, 1-based, if it is known.
    """

    problem: str
    quoted: str
    hint: str = ""
    line: int | None = None
    column: int | None = None


def read_toml(
    path: str, refuse: Callable[[TomlFlaw], FormatError], *, hint: str
) -> tuple[str, dict[str, object]]:
    """Read a file, and return its text and its tables."""
    try:
        with Path(path).open("rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a null byte is a ValueError
        reason = getattr(error, "strerror", None) or "no such path"
        raise FileError(
            f"the file can't be read ({reason})", hint=hint, code="io", file=path
        ) from None
    found = _find_flaw(raw)
    if isinstance(found, TomlFlaw):
        raise refuse(found)
    return found


def list_toml(path: str) -> list[str]:
    """Return the files of a folder that end with .toml, by name; of a file, that file."""
    folder = Path(path)
    try:
        if not folder.is_dir():
            return [path]
        files = sorted(str(each) for each in folder.iterdir() if each.suffix == ENDING)
    except (OSError, ValueError) as error:  # a path with a null byte is a ValueError
        reason = getattr(error, "strerror", None) or "no such path"
        raise FileError(
            f"the folder can't be read ({reason})", hint="check the path", code="io", file=path
        ) from None
    if not 0 < len(files) <= MOST_FILES:
        raise FileError(
            f"expected 1 to {MOST_FILES} files that end with {ENDING} in the folder, "
            f"found {len(files)}",
            hint="name the folder of the files, or one file",
            code="io",
            file=path,
        )
    return files


def find_line(text: str, keys: Sequence[str]) -> int | None:
    r"""Return the line of a key, or of the nearest table around it; `None` if none is found.

    Examples:
        >>> find_line('[a."b c"]\nd = 1\n', ["a", "b c", "d"])
        2
    """
    table: list[str] = []
    longest, found = 0, None
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.strip()
        is_table = said.startswith("[")
        head = said.strip("[").partition("]")[0] if is_table else said.partition("=")[0]
        path = _read_keys(head)
        if is_table:
            table = path
        at = path if is_table else [*table, *path]
        common = min(len(at), len(keys))
        if path and common > longest and at[:common] == list(keys[:common]):
            longest, found = common, number
    return found


def _read_keys(text: str) -> list[str]:
    """Return the parts of a key; none where a text is no key."""
    try:
        value: object = tomllib.loads(f"{text}=0")
    except (ValueError, RecursionError):
        return []
    keys = []
    while isinstance(value, dict) and value:
        [(key, value)] = value.items()
        keys.append(key)
    return keys


def _find_flaw(raw: bytes) -> TomlFlaw | tuple[str, dict[str, object]]:
    """Return the text and its tables, or what is wrong."""
    if len(raw) > MOST_BYTES:
        problem = f"expected at most {MOST_BYTES >> 10} KiB, found more"
        return _flaw(problem, "remove what isn't used")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _flaw("expected UTF-8, found another encoding", "save it as UTF-8")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            problem = f"expected at most {MOST_DOTS} dots in a line, found more"
            return _flaw(problem, "no key has more than three parts", line=number)
    return _parse(text)


def _parse(text: str) -> TomlFlaw | tuple[str, dict[str, object]]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        return TomlFlaw(
            problem="invalid TOML: check quotes, brackets and equals signs",
            quoted=f"invalid TOML: {PLACE.sub('', str(error)).strip()}",
            hint="check quotes, brackets and equals signs",
            line=int(place[1]) if place else None,
            column=int(place[2]) if place else None,
        )
    except RecursionError:
        return _flaw("invalid TOML: too many levels", "two levels are used")
    except ValueError:  # Python reads no decimal integer of thousands of digits
        return _flaw(*TOO_LARGE)
    return (text, tables) if _fits(tables) else _flaw(*TOO_LARGE)


def _fits(tables: dict[str, object]) -> bool:
    waiting: list[object] = [tables]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int) and value not in INTEGERS:
            return False
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return True


def _flaw(problem: str, hint: str, line: int | None = None) -> TomlFlaw:
    return TomlFlaw(problem=problem, quoted=problem, hint=hint, line=line)
