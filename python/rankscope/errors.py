"""Every error that rankscope raises, as one tree.

RankscopeError
├── UsageError          a call that cannot be meant (exit status 2)
│   ├── MeasureError    an unknown measure, or a parameter outside its domain
│   └── PolicyError     an unknown policy, or a value outside its domain
├── InputError          data that cannot be read as what it should be (exit status 3)
│   ├── FormatError     text or objects that are not of the format
│   ├── DuplicateError  one document twice in a query
│   ├── EmptyError      nothing to evaluate
│   └── LimitError      a named limit was reached
├── FileError           the operating system refused (exit status 4)
├── OutOfMemoryError    not enough memory for this input (exit status 4)
└── DeadlineError       a read took longer than it may (exit status 4)
"""

from __future__ import annotations


class RankscopeError(Exception):
    """Anything that rankscope refuses, with what was expected, found and where.

    Attributes:
        message: What was expected and what was found.
        hint: How to mend it, or an empty string.
        code: A stable name for programs, such as `field_count`.
        file: The file it was found in, or `None`.
        line: The 1-based line or row, or `None`.
        column: The 1-based column, or `None`.
        value: The offending value, escaped and cut at 120 characters, or `None`.

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
        """Where it was found, as `file:line:column`, as far as known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    @property
    def summary(self) -> str:
        """The error in one line, without its hint."""
        return f"{self.location}: {self.message}" if self.location else self.message

    def __str__(self) -> str:
        return f"{self.summary}\n\nHint: {self.hint}" if self.hint else self.summary

    def __reduce__(self) -> tuple[object, ...]:
        state = {key: value for key, value in self.__dict__.items() if key != "message"}
        return _rebuild, (type(self), self.message, state)


class UsageError(RankscopeError, ValueError):
    """A call that cannot be meant."""

    exit_status = 2


class MeasureError(UsageError):
    """An unknown measure, or a parameter outside its domain."""


class PolicyError(UsageError):
    """An unknown policy, or a value outside its domain."""


class InputError(RankscopeError, ValueError):
    """Data that cannot be read as what it should be."""


class FormatError(InputError):
    """Text or objects that are not of the format."""


class DuplicateError(InputError):
    """One document twice in a query."""


class EmptyError(InputError):
    """Nothing to evaluate: no judgments, no rankings, or none in common."""


class LimitError(InputError):
    """A named limit was reached."""


class FileError(RankscopeError, OSError):
    """The operating system refused to read or write."""

    exit_status = 4


class OutOfMemoryError(RankscopeError, MemoryError):
    """There is not enough memory for this input; it is a `MemoryError` of Python as well."""

    exit_status = 4


class DeadlineError(RankscopeError, TimeoutError):
    """A read that was ended because it took too long, or because the service is closing."""

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
    error = kind(message)
    error.__dict__.update(state)
    return error


def from_core(
    kind: str,
    message: str,
    hint: str,
    code: str,
    place: tuple[str | None, int | None, int | None, str | None],
) -> RankscopeError:
    """Make the error that the core describes; `place` is file, line, column, value."""
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
