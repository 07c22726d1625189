"""The writer of each format, and the results that a paper can contain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module

from rankscope.errors import UsageError
from rankscope.hints import hint_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from rankscope.output.layout.description import Layout

    Format: TypeAlias = Literal["text", "markdown", "html", "latex"]

FORMATS: tuple[Format, ...] = ("text", "markdown", "html", "latex")
MOST_DIGITS = 15


def write(layout: Layout, form: Format) -> str:
    """Return a layout in a format."""
    if form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r}",
            hint=f"use one of: {', '.join(FORMATS)}",
            code="bad_parameter",
        )
    written: str = import_module(f"rankscope.output.layout.{form}").write(layout)
    return written


class Written(ABC):
    """A result with a table for papers, which is the same in each format."""

    __slots__ = ()

    @property
    @abstractmethod
    def _paper(self) -> Callable[..., Layout]:
        """The function that describes the table, with its choices as keyword arguments."""

    def _write_paper(self, choices: dict[str, Any], form: Format) -> str:
        return write(hint_arguments(self._paper)(**choices), form)  # type: ignore[arg-type]  # a layout

    def to_latex(self, **choices: Any) -> str:  # noqa: ANN401 - as above
        r"""Return the table for a paper in LaTeX: a `table` in the style of booktabs.

        The best value of each measure is bold and the second best underlined, as printed. Where
        neither higher nor lower values are better, none is. Notes below say how many queries the
        means are over and, if there are marks, the test, the correction and the level. The first
        line names the packages that the table needs. Names are escaped.

        Args:
            **choices: `caption` (default: what the table shows); `label`, such as `"tab:runs"`
                (default: none); `digits`, the number of decimal places (default: 4); for several
                runs, `sort`, the measure by which they are sorted, best first; for a comparison,
                `baseline`, the runs that the others are tested against, marked † for the first, ‡
                for the second, and so on.

        Raises:
            UsageError: A choice is unknown or invalid.
        """
        return self._write_paper(choices, "latex")

    def to_markdown(self, **choices: Any) -> str:  # noqa: ANN401 - as above
        """Return the table for a paper in Markdown; see `to_latex`."""
        return self._write_paper(choices, "markdown")


def check_digits(digits: int) -> int:
    """Return a number of decimal places, or refuse it."""
    given: object = digits
    is_whole = isinstance(given, int) and not isinstance(given, bool)
    if not (is_whole and 0 <= digits <= MOST_DIGITS):
        raise UsageError(
            f"expected digits as a whole number from 0 to {MOST_DIGITS}, found {digits!r}",
            hint="write digits=3",
            code="bad_parameter",
        )
    return digits
