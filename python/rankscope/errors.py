"""The exceptions of rankscope.

RankscopeError
├── UsageError          invalid arguments (exit status 2)
│   ├── ArgumentError   unknown argument of a function
│   ├── MeasureError    unknown measure, or invalid value of a parameter
│   └── PolicyError     unknown policy field, or invalid value
├── InputError          invalid data (exit status 3)
│   ├── FormatError     data that don't have the expected format
│   │   └── InputTypeError  data of a type that the function doesn't take
│   ├── DuplicateError  the same document twice in a query
│   ├── EmptyError      nothing to evaluate
│   └── LimitError      data that exceed a limit
├── FileError           the operating system can't read or write a file (exit status 4)
├── OutOfMemoryError    not enough memory for this input (exit status 4)
└── DeadlineError       reading a store took too long (exit status 4)
"""

from __future__ import annotations

from collections.abc import Sequence


class RankscopeError(Exception):
    """The base class of all exceptions that rankscope raises.

    Attributes:
        message: What is wrong.
        hint: How to fix it, or an empty string.
        code: A stable code for programs, such as `field_count`.
        file: The file with the error, or `None`.
        line: The line or row, counted from 1, or `None`.
        column: The column, counted from 1, or `None`.
        value: The invalid value, escaped and cut to 120 characters, or `None`.

    Examples:
        >>> error = FormatError(
        ...     "expected 4 fields, found 3",
        ...     hint="truncated?",
        ...     code="field_count",
        ...     file="a.qrels",
        ...     line=7,
        ... )
        >>> print(error)
        a.qrels:7: expected 4 fields, found 3
        <BLANKLINE>
        Hint: truncated?
        >>> error.code, error.exit_status
        ('field_count', 3)
    """

    exit_status = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str = "error",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        value: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.value = value

    @property
    def location(self) -> str:
        """The place of the error as `file:line:column`, as far as it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    @property
    def summary(self) -> str:
        """The place and the message in one line, without the hint."""
        return f"{self.location}: {self.message}" if self.location else self.message

    def __str__(self) -> str:
        return f"{self.summary}\n\nHint: {self.hint}" if self.hint else self.summary

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.__dict__)


class UsageError(RankscopeError, ValueError):
    """Invalid arguments."""

    exit_status = 2


class ArgumentError(UsageError, TypeError):
    """An argument that a function doesn't have. This is also a `TypeError`.

    Attributes:
        argument: The name of the argument.
        names: The arguments that there are.
    """

    argument = ""
    names: Sequence[str] = ()


class MeasureError(UsageError):
    """An unknown measure, or an invalid value of one of its parameters."""


class PolicyError(UsageError):
    """An unknown policy field, or an invalid value."""


class InputError(RankscopeError, ValueError):
    """Invalid data."""


class FormatError(InputError):
    """Data that don't have the expected format."""


class InputTypeError(FormatError, TypeError):
    """Data of a type that the function doesn't take. This is also a `TypeError`."""


class DuplicateError(InputError):
    """The same document twice in a query."""


class EmptyError(InputError):
    """Nothing to evaluate: no judgments, no rankings, or no queries in common."""


class LimitError(InputError):
    """Data that exceed a limit."""


class FileError(RankscopeError, OSError):
    """The operating system can't read or write a file."""

    exit_status = 4


class OutOfMemoryError(RankscopeError, MemoryError):
    """Not enough memory for this input. This is also a `MemoryError`."""

    exit_status = 4


class DeadlineError(RankscopeError, TimeoutError):
    """A read of a store that took too long, or was stopped because the service is closing."""

    exit_status = 4


_CLASSES: dict[str, type[RankscopeError]] = {
    "usage": UsageError,
    "measure": MeasureError,
    "policy": PolicyError,
    "input": InputError,
    "format": FormatError,
    "duplicate": DuplicateError,
    "empty": EmptyError,
    "limit": LimitError,
    "file": FileError,
    "memory": OutOfMemoryError,
}


def _rebuild(kind: type[RankscopeError], message: str, state: dict[str, object]) -> RankscopeError:
    if kind.__init__ is RankscopeError.__init__:
        error = kind(message)
    else:  # the constructor of an error for one mistake takes what it is about
        error = kind.__new__(kind, message)
        RankscopeError.__init__(error, message)
    error.__dict__.update(state)
    return error


def from_core(
    kind: str,
    message: str,
    hint: str,
    code: str,
    place: tuple[str | None, int | None, int | None, str | None],
) -> RankscopeError:
    """Return the exception for an error of the core; `place` is file, line, column and value."""
    file, line, column, value = place
    return _CLASSES[kind](
        message, hint=hint, code=code, file=file, line=line, column=column, value=value
    )


def hint_extra(extra: str) -> str:
    """Return a hint that says how to install an extra, which is from source until a release exists.

    Args:
        extra: The name of the extra, such as `plot`.

    Examples:
        >>> hint_extra("plot")
        "install it from source: run `pip install '.[plot]'` in a checkout of rankscope"
    """
    return f"install it from source: run `pip install '.[{extra}]'` in a checkout of rankscope"
