"""The commands, or the call, that reproduce a report."""

from __future__ import annotations

import os

from rankscope._compare.report.report import ReportCommand
from rankscope.file import File
from rankscope.settings.interval import Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope._compare.report.source import HashedInput


LONGEST_VALUE = 80


def write_commands(
    held: Sequence[HashedInput],
    measures: Sequence[str],
    *,
    settings: str,
    convention: str,
    interval: Interval | None,
    columns: Mapping[str, str],
    beside: Mapping[str, object],
    options: Sequence[tuple[str, str]],
) -> tuple[ReportCommand, ...]:
    """Return the commands that reproduce the values and the report."""
    known = {name: given for name, given in beside.items() if given is not None}
    are_paths = all(isinstance(given, str | os.PathLike) for given in known.values())
    if not _can_be_said(held, interval) or not are_paths:
        ends = "" if interval is None else f"rs.{interval!r}"
        texts = {"policy": settings, "convention": convention}
        said = [f"{name}={text!r}" for name, text in texts.items() if text]
        said += [f"{role}={name!r}" for role, name in columns.items()]
        said += [f"{name}={_say_value(name, given)}" for name, given in known.items()]
        said += [f"interval={ends}"] if ends else []
        return (ReportCommand(purpose="Compute these values", text=_call(held, measures, said)),)
    words = [
        *(each.path for each in held),
        *(word for name in measures for word in ("-m", name)),
        *(["--policy", settings] if settings else []),
        *(["--convention", convention] if convention else []),
        *_say_interval(interval),
        *_say_files(held),
        *(word for role, name in columns.items() for word in ("--col", f"{role}={name}")),
        *(word for name, path in known.items() for word in (f"--{name}", os.fsdecode(path))),  # type: ignore[arg-type]  # a path
        *(word for option in options for word in option),
    ]
    return (
        ReportCommand(purpose="Compute these values", text=_join(["rankscope", "eval", *words])),
        ReportCommand(purpose="Create this report", text=_join(["rankscope", "report", *words])),
    )


def _say_value(name: str, given: object) -> str:
    """Return names of columns and paths as they are, and the name of what is longer."""
    value = given[0] if isinstance(given, tuple) else given
    is_short = isinstance(value, str | list) and len(repr(value)) <= LONGEST_VALUE
    return repr(value) if is_short else name


def _can_be_said(held: Sequence[HashedInput], interval: Interval | None) -> bool:
    """Check whether commands can express the inputs and intervals."""
    columns: dict[str, str] = {}
    for role, name in (pair for each in held for pair in _columns(each).items()):
        if columns.setdefault(role, name) != name:
            return False
    is_usual = interval is None or interval == Interval(interval.level, seed=interval.seed)
    return all(each.path for each in held) and is_usual


def _columns(held: HashedInput) -> dict[str, str]:
    return dict(held.value.columns) if isinstance(held.value, File) else {}


def _say_interval(interval: Interval | None) -> list[str]:
    if interval is None:
        return []
    seed = ["--seed", str(interval.seed)] if interval.seed else []
    return ["--interval", f"{interval.level:g}", *seed]


def _say_files(held: Sequence[HashedInput]) -> Iterator[str]:
    columns = {role: name for each in held for role, name in _columns(each).items()}
    for role, name in columns.items():
        yield from ("--col", f"{role}={name}")
    formats = {
        part: each.value.format
        for part, each in zip(["qrels", *["run"] * len(held)], held, strict=False)
        if isinstance(each.value, File) and each.value.format
    }
    for part, form in formats.items():
        yield from ("--format", form if len(held) == 1 else f"{part}={form}")


def _join(words: Sequence[str]) -> str:
    return " ".join(map(_quote, words))


def _quote(word: str) -> str:
    r"""Quote a word for a shell, with invisible characters escaped as in Bash.

    Examples:
        >>> print(_quote("a run"), _quote("a\trun"))
        'a run' $'a\trun'
    """
    if word.isprintable():
        import shlex  # noqa: PLC0415 - only reports need it

        return shlex.quote(word)
    escaped = "".join(
        character if character.isprintable() else _escape(character)
        for character in word.replace("\\", "\\\\").replace("'", "\\'")
    )
    return f"$'{escaped}'"


def _escape(character: str) -> str:
    usual = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    octets = (f"\\x{octet:02x}" for octet in os.fsencode(character))
    return usual.get(character) or "".join(octets)


def _call(held: Sequence[HashedInput], measures: Sequence[str], said: Sequence[str]) -> str:
    given = ["table"] if len(held) == 1 else ["qrels", "run"]
    return f"rs.evaluate({', '.join([*given, repr(list(measures)), *said])})"
