"""The writer of each format, and the results that a paper can contain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module

from rankscope.errors import UsageError
from rankscope.hints import hint_arguments
from rankscope.output.layout.description import Paper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias

    from rankscope.measures import Measure
    from rankscope.output.layout.description import Layout

    Format: TypeAlias = Literal["text", "markdown", "html", "latex"]

FORMATS: tuple[Format, ...] = ("text", "markdown", "html", "latex")


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

    @abstractmethod
    def _describe_paper(self, paper: Paper) -> Layout:
        """Return the table."""

    @hint_arguments
    def to_latex(
        self,
        *,
        caption: str = "",
        label: str = "",
        digits: int | None = None,
        sort: Measure | str | None = None,
        baseline: str | Sequence[str] | None = None,
        names: Mapping[str, str] | None = None,
        percent: bool = False,
        relative: bool = False,
    ) -> str:
        r"""Return the table for a paper in LaTeX: a `table` in the style of booktabs.

        The best value of each measure is bold and the second best underlined, as printed. Where
        neither higher nor lower values are better, none is. Notes below say how many queries the
        means are over and, if there are marks, the test, the correction and the level. The first
        line names the packages that the table needs. Names are escaped.

        Args:
            caption: The caption (default: what the table shows).
            label: The label, such as `"tab:runs"`.
            digits: The number of decimal places (default: 4, or 2 in percent).
            sort: For several runs, the measure by which they are sorted, best first.
            baseline: For a comparison, the runs that the others are tested against, marked † for
                the first, ‡ for the second, and so on.
            names: New names of runs and measures: `{"bm25.run": "BM25", "AP": "MAP"}`.
            percent: Whether to multiply values by 100; counts and other values without a limit stay
                as they are.
            relative: Whether each measure has a second column: the change from the first baseline,
                in percent of its value.

        Raises:
            UsageError: A choice is unknown or invalid.
        """
        paper = Paper(caption, label, digits, sort, baseline, names or {}, percent, relative)
        return write(self._describe_paper(paper), "latex")

    @hint_arguments
    def to_markdown(
        self,
        *,
        caption: str = "",
        label: str = "",
        digits: int | None = None,
        sort: Measure | str | None = None,
        baseline: str | Sequence[str] | None = None,
        names: Mapping[str, str] | None = None,
        percent: bool = False,
        relative: bool = False,
    ) -> str:
        """Return the table for a paper in Markdown; see `to_latex`."""
        paper = Paper(caption, label, digits, sort, baseline, names or {}, percent, relative)
        return write(self._describe_paper(paper), "markdown")
