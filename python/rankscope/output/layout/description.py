"""What a result shows, without a format: sentences, grids of cells with marks, and small print."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.names import find_closest
from rankscope.output.diagnostics import GRAVE
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures import Measure

WIDTH = 80
"""The columns of a terminal."""
SHORT = 2
"""The most lines of small print below what `print` shows."""
MOST_CODES = 3
"""Kinds of notes that are named in one line; others are counted."""


MOST_DIGITS = 15
MOST_OF_SHARES = 2
"""Values of measures below it are shares; those of alpha_nDCG can be above 1."""


ATTRIBUTE = ".small_print"
PRINTED = f"{ATTRIBUTE}, --small-print"
"""Where small print is, the second for results that a command prints like this."""


@record(frozen=True, slots=True)
class Cell:
    """A cell of a grid.

    Args:
        text: Its text.
        mark: What stands raised after it: letters of runs, or signs of baselines.
        is_best: Whether to print it in bold.
        is_second: Whether to underline it.
    """

    text: str
    mark: str = ""
    is_best: bool = False
    is_second: bool = False


@record(frozen=True, slots=True)
class Grid:
    """A table.

    Args:
        columns: The names of its columns.
        is_text: Which of them hold text, which stands on the left.
        rows: Its rows.
        title: The line above it, which is the caption in formats that have one.
        notes: The lines directly below it, such as what the marks mean.
    """

    columns: tuple[str, ...]
    is_text: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Paper:
    """The choices for the table of a paper; see `Written.to_latex`."""

    caption: str
    label: str
    digits: int | None
    sort: Measure | str | None
    baseline: str | Sequence[str] | None
    names: Mapping[str, str]
    percent: bool
    relative: bool

    @property
    def places(self) -> int:
        """The number of decimal places."""
        if self.digits is None:
            return 2 if self.percent else 4
        if type(self.digits) is not int or not 0 <= self.digits <= MOST_DIGITS:
            raise UsageError(
                f"expected digits as a whole number from 0 to {MOST_DIGITS}, found {self.digits!r}",
                hint="write digits=3",
                code="bad_parameter",
            )
        return self.digits

    def name(self, name: str) -> str:
        """Return what the paper calls a run or a measure."""
        return self.names.get(name, name)

    def scale(self, measure: str) -> float:
        """Return what the values of a measure are multiplied by: counts are no percentages."""
        if not self.percent:
            return 1.0
        from rankscope.measures.parse import parse  # noqa: PLC0415 - only for percentages

        return 100.0 if max(map(abs, parse(measure).row.value_range)) < MOST_OF_SHARES else 1.0

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse new names of what isn't in the table."""
        for name in self.names:
            if name not in known:
                closest = find_closest(name, known)
                raise UsageError(
                    f"there is no run or measure {name!r} to rename",
                    hint=f"did you mean {closest!r}?"
                    if closest
                    else f"there are {', '.join(known)}",
                    code="bad_parameter",
                )

    def say_percent(self, measures: Sequence[str]) -> list[str]:
        """Return the sentence about percentages, if there are any."""
        shares = [self.name(each) for each in measures if self.scale(each) != 1]
        return [f"In percent: {', '.join(shares)}."] if shares else []


@record(frozen=True, slots=True, kw_only=True)
class Layout:
    """All that a result shows, from top to bottom.

    Args:
        above: The sentences above the grids, such as verdicts.
        grids: The tables.
        small_print: The sentences below: how the numbers were made, and what they don't say.
        label: The name by which a paper refers to the first table; empty for none.
    """

    above: tuple[str, ...] = ()
    grids: tuple[Grid, ...]
    small_print: tuple[str, ...] = ()
    label: str = ""

    def shorten(self, notes: Mapping[str, int] | None = None) -> Layout:
        """Return it with at most two lines below the numbers, which say where the others are."""
        room = SHORT - sum(len(grid.notes) for grid in self.grids)
        lines = shorten(self.small_print, notes, room, WIDTH, where=PRINTED)
        return replace(self, small_print=lines)


def shorten(
    lines: Sequence[str],
    notes: Mapping[str, int] | None = None,
    room: int = SHORT,
    width: int | None = None,
    where: str = ATTRIBUTE,
) -> tuple[str, ...]:
    """Return small print in a few lines and grave notes; the last one says where all of it is.

    Args:
        lines: All of it.
        notes: The count of each code of the notes in it, which are named even if they are left out.
        room: The most lines beside grave notes.
        width: The longest line (default: any).
        where: Where all of it is.

    Examples:
        >>> shorten(["policy: ties=average", "intervals: 95%, dense"])
        ('policy: ties=average', 'intervals: 95%, dense')
        >>> shorten(["policy: ties=average", "intervals: 95%", "note: …"], {"tied_scores": 3})[1]
        'Notes: tied_scores (3). 2 more lines: .small_print'
        >>> shorten(["policy: …", "intervals: …", "ranks: …", "note: … [n_missing]"])
        ('policy: …', 'note: … [n_missing]', '2 more lines: .small_print')
    """
    grave = list_grave(lines)
    others = [line for line in lines if line not in grave]
    is_short = width is None or all(len(line) <= width for line in others)
    if len(others) <= room and is_short:
        return tuple(lines)
    kept = [line for line in others[: max(room - 1, 0)] if width is None or len(line) <= width]
    kept += grave
    left = len(lines) - len(kept)
    what = f"{left} {'more ' if kept else ''}line{'s' * (left != 1)}"
    if not kept and not notes:
        what += " of small print"
    return (*kept, point_to(what, notes or {}, width, where=where))


def list_grave(lines: Sequence[str]) -> list[str]:
    """Return the lines that are grave notes."""
    return [line for line in lines if line.endswith(tuple(f"[{code}]" for code in GRAVE))]


def point_to(
    what: str, notes: Mapping[str, int], width: int | None = None, *, where: str = PRINTED
) -> str:
    """Return where all of the small print is, with as many codes of notes as the line has room for.

    None of them is left out in silence, and grave ones are printed above.
    """
    whole = f"{what}: {where}"
    codes = [f"{code} ({count:,})" for code, count in notes.items() if code not in GRAVE]
    if not codes:
        return whole
    for named in range(min(MOST_CODES, len(codes)), 0, -1):
        left = len(codes) - named
        line = f"Notes: {', '.join(codes[:named])}{f' and {left} more' if left else ''}. {whole}"
        if width is None or len(line) <= width:
            return line
    return f"Notes: {len(codes)} kind{'s' * (len(codes) != 1)}. {whole}"
