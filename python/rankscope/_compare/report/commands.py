"""The commands, or the call, that reproduce a report."""

from __future__ import annotations

import os
import shlex
from operator import itemgetter

from rankscope._evaluate.query_values import read_slicing
from rankscope._inputs.attribution import read_positive
from rankscope.file import File
from rankscope.settings.interval import Interval
from rankscope.settings.reading import ROLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope._compare.report.source import HashedInput

LONGEST_VALUE = 80
USUAL = {"duplicates": "error", "score_type": "float64", "encoding": "utf-8", "ignore_same": False}
"""The values of arguments that need not be written."""
IRRELEVANT = {"threads", "progress"}
"""Arguments that change no number."""


def write_commands(
    inputs: Sequence[HashedInput],
    measures: Sequence[str],
    arguments: dict[str, object],
    of_report: Sequence[str],
) -> dict[str, str]:
    """Return the commands that give the values and the report, by purpose; or else the call.

    Args:
        inputs: Judgments and runs, or one table.
        measures: The names of the measures.
        arguments: The arguments of the call.
        of_report: The options that only the command of the report has.
    """
    files = [each.value for each in inputs if isinstance(each.value, File)]
    columns = {pair for file in files for pair in file.columns.items()}
    known = {
        name: value
        for name, value in sorted((arguments | dict(columns)).items(), key=itemgetter(0))
        if value is not None and name not in IRRELEVANT and not _is_usual(name, value)
    }
    options = [_write_option(*each, is_table=len(inputs) == 1) for each in known.items()]
    has_roles_once = len(dict(columns)) == len(columns)
    if None in options or not has_roles_once or not all(each.path for each in inputs):
        call = ["table"] if len(inputs) == 1 else ["qrels", "run"]
        call += [
            repr([*measures]),
            *(f"{name}={_write(name, value)}" for name, value in known.items()),
        ]
        return {"Compute these values": f"rs.evaluate({', '.join(call)})"}
    words = [
        *(each.path for each in inputs),
        *(word for name in measures for word in ("-m", name)),
        *_write_formats(inputs),
        *(word for option in options for word in option or ()),
    ]
    commands = {"Compute these values": ["rankscope", "eval", *words]}
    if "interval" in known:  # there is no option for a report without intervals
        commands["Create this report"] = ["rankscope", "report", *words, *of_report]
    return {purpose: " ".join(map(_quote, command)) for purpose, command in commands.items()}


def _is_usual(name: str, value: object) -> bool:
    return isinstance(value, str | bool) and value in {"", USUAL.get(name)}


def _write_option(name: str, value: object, *, is_table: bool) -> list[str] | None:
    """Return an argument as an option of the commands, or `None` if they have none for it."""
    match name, value:
        case "policy" | "convention" | "duplicates" | "score_type" | "encoding", str():
            return [f"--{name.replace('_', '-')}", value]
        case "ignore_same", True:
            return ["--ignore-same"]
        case "interval", Interval(level=level, seed=seed) if value == Interval(level, seed=seed):
            return ["--interval", f"{level:g}", *(["--seed", f"{seed}"] if seed else [])]
        case "history" | "items" | "catalogue", str() | os.PathLike():
            return [f"--{name}", os.fsdecode(value)]
        case "by", str() | list() | tuple() if is_table:
            return [word for column in read_slicing(value) for word in ("--by", column)]
        case "labels" | "weights", str() if is_table:
            return ["--col", f"{name.removesuffix('s')}={value}"]
        case "positive", str() | dict() | list() if is_table:
            grades = read_positive(value).items()
            labels = [label if grade == 1 else f"{label}={grade:g}" for label, grade in grades]
            return [word for label in labels for word in ("--positive", label)]
        case _, str() if name in ROLES:
            return ["--col", f"{name}={value}"]
    return None


def _write(name: str, value: object) -> str:
    """Return the value of an argument, or the name of what is longer."""
    if isinstance(value, Interval):
        return f"rs.{value!r}"
    is_short = isinstance(value, str | list | bool) and len(repr(value)) <= LONGEST_VALUE
    return repr(value) if is_short else name


def _write_formats(inputs: Sequence[HashedInput]) -> Iterator[str]:
    parts = ["qrels", *["run"] * len(inputs)]
    formats = {
        part: each.value.format
        for part, each in zip(parts, inputs, strict=False)
        if isinstance(each.value, File) and each.value.format
    }
    for part, form in formats.items():
        yield from ("--format", form if len(inputs) == 1 else f"{part}={form}")


def _quote(word: str) -> str:
    r"""Quote a word for a shell, with the bytes of invisible characters escaped as in Bash.

    Examples:
        >>> print(_quote("a run"), _quote("a\trun"))
        'a run' $'a\x09run'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        character
        if character.isprintable()
        else "".join(f"\\x{octet:02x}" for octet in os.fsencode(character))
        for character in word.replace("\\", "\\\\").replace("'", "\\'")
    )
    return f"$'{escaped}'"
