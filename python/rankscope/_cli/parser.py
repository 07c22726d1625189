"""The parser of the command line: argparse with plain help and errors of `rankscope.errors`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import NoReturn, TextIO

from rankscope._names import MEANT, POLICIES, find_closest, quote
from rankscope._show import write_json, write_rows
from rankscope._show.diagnostics import Diagnostic
from rankscope._show.table import show
from rankscope.errors import FileError, OutOfMemoryError, RankscopeError, UsageError

EXAMPLES = "Examples:"
DEFAULT = " (default: "
WIDTH = 80
MARGIN = 2

LEVEL = "--measure", "write the relevance level in the measure: -m 'AP(rel=2)'."
OUTPUT = "--measure", "redirect the output to a file: > values.tsv."
OTHERS = {
    "-l": LEVEL,
    "--rel": LEVEL,
    "--relevance-level": LEVEL,
    "-c": ("--policy", "leave it out: queries that are not in the run count as 0."),
    "-o": OUTPUT,
    "--output": OUTPUT,
    "--ci": ("--interval", "did you mean --interval 0.95?"),
    "--qid": ("--col", "name the column: --col query=qid."),
}
"""Options of other tools: ours that does the same, and what to write."""


COMMANDS = {"reconcile": "rankscope conventions QRELS RUN -m nDCG@10 --got 0.4863"}
"""What to write in place of commands that there aren't."""


MAY_BE_EMPTY = {"policy", "model", "version", "owner"}
"""No policy but the default, a model or version without a name, no team."""


class HelpFormatter(argparse.HelpFormatter):
    """Writes the choices and the default of an argument after its help; keeps examples as typed."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=read_width())

    def _get_help_string(self, action: argparse.Action) -> str:
        return describe_argument(action).replace("%", "%%")

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        # The first line of a list of commands would only say COMMAND.
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action]:
        if action.nargs == argparse.PARSER:
            yield from action._get_subactions()  # type: ignore[attr-defined]  # noqa: SLF001 - as above
        else:
            yield from super()._iter_indented_subactions(action)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(EXAMPLES):
            return text
        return super()._fill_text(text, width, indent)


def read_width() -> int:
    """Return the width of the help: that of the terminal, as `shutil.get_terminal_size` says.

    argparse makes a formatter for each argument, and `shutil` takes longer to load than all of
    them.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns) - MARGIN
    try:
        return (os.get_terminal_size(sys.__stdout__.fileno()).columns or WIDTH) - MARGIN  # type: ignore[union-attr]  # an AttributeError
    except (AttributeError, ValueError, OSError):  # no terminal
        return WIDTH - MARGIN


def describe_argument(argument: argparse.Action) -> str:
    """Return the help of an argument, with its choices, its default and whether it can be repeated.

    The help may end with a default of its own, where that of the parser would say nothing.

    Examples:
        >>> parser = Parser()
        >>> describe_argument(
        ...     parser.add_argument("--every", choices=("hour", "day"), default="day")
        ... )
        'one of: hour, day (default: day)'
        >>> describe_argument(parser.add_argument("--by", action="append", help="group by it"))
        'group by it; can be repeated'
        >>> describe_argument(parser.add_argument("--size", help="size (default: 9); in bytes"))
        'size (default: 9); in bytes'
    """
    text, _, default = (argument.help or "").partition(DEFAULT)
    if default and not default.endswith(")"):  # it says more after the default
        text, default = argument.help or "", ""
    else:
        default = default.removesuffix(")") or _format_default(argument.default)
    parts = [text] if text else []
    if argument.choices is not None and argument.nargs != argparse.PARSER:
        kind = "any of" if argument.nargs == "+" else "one of"
        parts.append(f"{kind}: {', '.join(map(str, argument.choices))}")
    if isinstance(argument, argparse._AppendAction):  # noqa: SLF001 - argparse has no public name
        parts.append("can be repeated")
    return "; ".join(parts) + (f"{DEFAULT}{default})" if default else "")


def _format_default(default: object) -> str:
    if default is None or default is False or default == argparse.SUPPRESS:
        return ""
    if isinstance(default, list):
        return " ".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` for a command line it cannot read.

    Attributes:
        usage_status: The exit status for such a command line.
    """

    usage_status = UsageError.exit_status

    def __init__(self, **settings: object) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=HelpFormatter,
            **settings,  # type: ignore[arg-type]
        )
        self.register("action", None, Once)
        self._positionals.title = "Arguments"
        self._optionals.title = "Options"

    def parse_known_args(  # type: ignore[override]  # its overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments. `-m nDCG@10 AP` names two measures, wherever it is written."""
        words = list(sys.argv[1:] if args is None else args)
        option = self._option_string_actions.get("-m")
        if isinstance(option, argparse._AppendAction):  # noqa: SLF001 - argparse has no public name
            words = join_measures(words, option.option_strings)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` that names the option that was probably meant, or the help."""
        hint = f"run {self.prog} --help to see how to use it"
        words = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized") and words[0].startswith("-"):
            meant = self._find_meant(words[0].partition("=")[0])
            hint = f"{meant} {hint[0].upper()}{hint[1:]}" if meant else hint
        self._refuse(UsageError(message, hint=hint, code="usage"))

    def _find_meant(self, option: str) -> str:
        """Return what to write in place of an option that there isn't, or an empty string."""
        options = self._option_string_actions
        needed, meant = OTHERS.get(option, ("", ""))
        if meant and needed in options:
            return meant
        if option[2:] in POLICIES and "--policy" in options:
            return f"did you mean --policy {option[2:]}=…?"
        if MEANT.get(option[2:]) == "measures" and "--measure" in options:
            return "did you mean -m nDCG@10?"
        closest = find_closest(option, options, likeness=0.8) if option[:2] == "--" else None
        return f"did you mean {closest}?" if closest else ""

    def refuse_empty(self, what: str) -> NoReturn:
        """Raise a `UsageError` for an empty argument, such as `"$EXTRA"` of a variable not set."""
        hint = 'remove it, or set the shell variable that it stands for, such as "$EXTRA"'
        self._refuse(UsageError(f"{what} is empty", hint=hint, code="usage"))

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> object:
        # trec_eval takes empty arguments as they are.
        takes_any = self.usage_status != UsageError.exit_status or action.dest in MAY_BE_EMPTY
        if "" in arg_strings and action.nargs != argparse.PARSER and not takes_any:
            name = action.metavar if action.nargs is None else "an argument"
            self.refuse_empty([f"{name}", *action.option_strings][-1])
        return super()._get_values(action, arg_strings)

    def _refuse(self, mistake: UsageError) -> NoReturn:
        if self.usage_status != mistake.exit_status:
            mistake.exit_status = self.usage_status
        raise mistake

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [*map(str, action.choices)]
        closest = COMMANDS.get(str(value)) or find_closest(value, choices)
        message = f"unknown {str(action.metavar).lower()} {quote(value)}"
        if action.option_strings:
            message = f"unknown value {quote(value)} for {action.option_strings[-1]}"
        hint = f"did you mean {closest}?" if closest else f"use one of: {', '.join(choices)}"
        self._refuse(UsageError(message, hint=hint, code="usage"))

    def format_help(self) -> str:
        """Return the help, whose usage line names the arguments and the required options."""
        self.usage = self.usage or self._format_words()
        return super().format_help()

    def add_examples(self, *lines: str) -> None:
        """Show examples at the end of the help."""
        self.epilog = "\n  ".join([EXAMPLES, *lines])

    def _format_words(self) -> str:
        required = [action for action in self._actions if action.option_strings and action.required]
        options = [f"{action.option_strings[-1]} {_format_value(action)}" for action in required]
        return " ".join(
            ["%(prog)s", "[options]", *map(_format_value, self._get_positional_actions()), *options]
        )


def _format_value(argument: argparse.Action) -> str:
    name = str(argument.metavar or argument.dest.upper())
    if argument.nargs == argparse.PARSER:
        return f"{name} ..."
    many = {"+": "{}...", "*": "[{}...]", "?": "[{}]"}
    return many.get(str(argument.nargs), "{}").format(name)


def join_measures(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return a command line whose measures are one word after their option, and come first.

    argparse takes one word after such an option, and all files from one place. A word is a measure
    if it names one, and there is no file of this name.

    Examples:
        >>> join_measures(["qrels.txt", "-m", "nDCG@3", "AP", "a.run"], ["-m"])
        ['-m', 'nDCG@3,AP', 'qrels.txt', 'a.run']
    """
    measures: list[str] = []
    others: list[str] = []
    state = ""
    for at, word in enumerate(words):
        if word == "--":
            others += words[at:]
            break
        is_cutoff = state == "named" and measures[-1].endswith(",") and word[:1].isdigit()
        is_more = state == "named" and _is_measure(word, comes_last=bool(others))
        if is_cutoff or is_more:
            measures[-1] += f",{word}"
        elif state == "option" or word in options:
            measures.append(word)
            state = "named" if state == "option" else "option"
        elif "=" in word and word.partition("=")[0] in options:
            measures.append(word)
            state = "named"
        else:
            others.append(word)
            state = ""
    return [*measures, *others]


def _is_measure(word: str, *, comes_last: bool) -> bool:
    """Check whether a word after a measure is one more, and no file: `q` and `r` probably are.

    After the files, it is one that doesn't exist, as its reader will say.
    """
    if word.startswith("-") or os.path.exists(word):  # noqa: PTH110 - pathlib loads slowly
        return False
    if comes_last and not {".", "/"} & set(word):
        return True
    from rankscope.errors import MeasureError
    from rankscope.measures.parse import parse, split_measures

    try:
        names = [parse(name) for name in split_measures([word])]
    except MeasureError:
        return False
    return bool(names) and (len(word) > 1 or word.isupper())


def read_integer(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {quote(text)}") from None


def read_number(text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {quote(text)}") from None


class Once(argparse.Action):
    """An option that can be used once: what an option is if it names no other action."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the value, or refuse it if there is one already."""
        seen = namespace.__dict__.setdefault("_seen", set())
        if self.dest in seen:
            parser.error(f"{option_string} can be used only once")
        seen.add(self.dest)
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


class OnceList(Once):
    """An option with several values that can be used once; its type is `listed`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Store all values in one list."""
        flat = [value for some in values or () for value in some]  # type: ignore[attr-defined]  # lists
        super().__call__(parser, namespace, flat, option_string)


def listed(read: Callable[[str], object] = str) -> Callable[[str], list[object]]:
    """Return a function that reads values separated by commas.

    Examples:
        >>> listed()("device,country"), listed(int)("1, 2,")
        (['device', 'country'], [1, 2])
    """

    def read_list(text: str) -> list[object]:
        if "," not in text:
            return [read(text)]
        parts = [stripped for part in text.split(",") if (stripped := part.strip())]
        if not parts:
            raise argparse.ArgumentTypeError(f"expected a value, found {quote(text)}")
        return [read(part) for part in parts]

    return read_list


class OnceFlag(Once):
    """A flag that can be used once."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str = "") -> None:  # noqa: A002 - argparse's name
        super().__init__(option_strings, dest, nargs=0, const=True, default=False, help=help)


HALF_MESSAGE = 400
"""The number of characters printed from each end of a long message."""


def set_up_streams() -> None:
    """Use UTF-8 and plain line ends everywhere, and escape what cannot be encoded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed the descriptor
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def drop_output(stream: TextIO | None = None) -> None:
    """Discard what a stream still buffers, so that the exit of the program does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def describe_failure(error: Exception) -> RankscopeError:
    """Return the error for one of Python's: no memory, output that was refused, or a defect."""
    if isinstance(error, MemoryError):
        return OutOfMemoryError(
            "not enough memory for this input",
            hint="evaluate it in parts, or raise the memory limit of the process",
            code="memory",
        )
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return FileError(
            reason if error.filename is None else f"{error.filename}: {reason}",
            hint="check that there is space on the disk, and that you may write there",
            code="io",
        )
    from traceback import print_exception

    print_exception(error)
    return RankscopeError(
        f"unexpected {type(error).__name__}: {error}",
        hint="this is a defect of rankscope: report it with the lines above",
        code="defect",
    )


def print_notes(notes: Iterable[Diagnostic | str]) -> None:
    """Print notes to standard error, one per line."""
    for note in notes:
        print(f"note: {show(str(note))}", file=sys.stderr)


def print_error(error: RankscopeError, *, as_json: bool) -> None:
    """Print an error and its hint to standard error, and with `as_json` also a JSON document.

    If neither can be written, the exit status alone reports the error.
    """
    try:
        print(f"rankscope: error: {_show_briefly(error.summary)} [{error.code}]", file=sys.stderr)
        if error.hint:
            print(f"Hint: {_show_briefly(error.hint)}", file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        drop_output(sys.stderr)
    if as_json:
        names = ("code", "message", "hint", "file", "line", "column", "value")
        try:
            print_json({"error": {name: getattr(error, name) for name in names}})
            sys.stdout.flush()
        except OSError:
            drop_output()


def _show_briefly(text: str) -> str:
    """Return a text on one line; of a long one, such as a path, the middle is left out."""
    if len(text) > 2 * HALF_MESSAGE:
        text = f"{text[:HALF_MESSAGE]}…{text[-HALF_MESSAGE:]}"
    return show(text)


def print_json(document: Mapping[str, object] | Sequence[object]) -> None:
    """Print one JSON document, with null for NaN and text for UUIDs, which JSON does not have."""
    print(write_json(document))


def print_csv(rows: Iterable[Iterable[str | float | None]]) -> None:
    """Print rows as CSV, with a ' before text that a spreadsheet would run as a formula."""
    write_rows(rows, sys.stdout)
