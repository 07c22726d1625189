"""A leaderboard: runs in the order of a measure, with groups and signs against baselines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankscope._compare.leaderboard.layout import describe_paper, lay_out, write_short
from rankscope._compare.result import ComparedPairs
from rankscope._drawing import (
    DASHED,
    MARKERS,
    TEXT,
    ThemeName,
    annotate,
    fit_names,
    measure_widest,
    name_axes,
    name_rows,
    open_axes,
)
from rankscope._evaluate.evaluation import find_name
from rankscope._names import as_dict, find_closest
from rankscope._settings import Policy
from rankscope._show import Documented, Tabular, Written, write
from rankscope._show.diagnostics import Diagnostic, count_codes
from rankscope._show.layout import Layout, Paper
from rankscope._show.table import Table, name_columns
from rankscope._show.text import write_wide
from rankscope.errors import EmptyError, UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._show.table import ColumnValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A run of a leaderboard.

    Args:
        rank: Its rank by the measure that runs are sorted by, 1 for the best; equal means have the
            same rank. `None` if it has no value.
        run: Its name.
        group: Its group, `"A"` for that of the best run; empty without groups.
        values: By measure, its mean over the queries that all runs have a value for.
    """

    rank: int | None
    run: str
    group: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(Written, Documented, Tabular):
    """Runs in the order of a measure, with groups and signs against baselines.

    It prints as a table with one row per run, and iterates over its entries. Exports have the
    columns `rank`, `run`, `group` and one per measure. `plot` draws the runs by one measure.

    Args:
        measures: The measures, in order.
        sort: The name of the measure that runs are sorted and grouped by.
        entries: All runs, best first.
        top: How many of them are shown; `None` for all.
        baselines: The runs that the others are tested against.
        groups: The tests of the groups: those of each group's leader. `None` without groups, as
            with one run or a measure of all lists together.
        against: The tests against the baselines; `None` without any.
        queries: By measure, the number of queries in its means. A measure that isn't a mean over
            queries has none.
        policy: The policy of the evaluation.
        warnings: Sentences about what isn't tested, and queries that are left out.
        notes: Notes about input that is valid but looks wrong.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(12)}
        >>> good, bad = ({query: docs for query in qrels} for docs in (["a", "b"], ["b", "a"]))
        >>> board = rs.leaderboard(qrels, {"old": bad, "new": good}, ["RR", "P@1"], baseline="old")
        >>> print(board)
        rank  run  group      RR       P@1
           1  new  A      1.0000 †  1.0000 †
           2  old  B      0.5000    0.0000
        <BLANKLINE>
        The first run of a group...
        Paired permutation test, p < 0.05, Holm over 1 and 2 comparisons...
        >>> board["new"].values["RR"], board.best.run
        (1.0, 'new')
    """

    measures: tuple[Measure, ...]
    sort: str
    entries: tuple[Entry, ...]
    top: int | None
    baselines: tuple[str, ...]
    groups: ComparedPairs | None
    against: ComparedPairs | None
    queries: Mapping[str, int]
    policy: Policy
    warnings: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()

    @property
    def best(self) -> Entry:
        """The entry of the run with the best mean, which can be best by chance."""
        return self.entries[0]

    @property
    def shown(self) -> tuple[Entry, ...]:
        """The entries that are shown: the best `top`, and the baselines."""
        return tuple(
            entry
            for at, entry in enumerate(self.entries)
            if self.top is None or at < self.top or entry.run in self.baselines
        )

    @property
    def table(self) -> Table:
        """The entries that are shown: `rank`, `run`, `group` and one column per measure."""
        return Table(self._tabulate())

    @property
    def tests(self) -> Table:
        """All tests that groups and signs follow from, with the corrected p-values.

        `purpose` says what for: `"group"` or `"baseline"`.
        """
        pairs = {
            purpose: () if tested is None else tested.comparisons
            for purpose, tested in (("group", self.groups), ("baseline", self.against))
        }
        tests = [pair for tested in pairs.values() for pair in tested]
        columns = {name: [getattr(pair, name) for pair in tests] for name in FIELDS}
        return Table({"purpose": [name for name in pairs for _ in pairs[name]], **columns})

    @property
    def diagnostics(self) -> dict[str, int]:
        """The count of each code in `notes`."""
        return count_codes(self.notes)

    @property
    def small_print(self) -> tuple[str, ...]:
        """What groups and signs mean, the tests, the policy, and the notes, as sentences."""
        return lay_out(self).small_print

    def find_measure(self, measure: Measure | str) -> str:
        """Return the name of one of the measures, `"AP"` for `"map"`.

        Raises:
            UsageError: The leaderboard doesn't have the measure.
        """
        names = [own.name for own in self.measures]
        name = find_name(measure, names)
        if name not in names:
            raise UsageError(
                f"the leaderboard has no measure {measure}",
                hint=f"choose one of: {', '.join(names)}",
                code="not_evaluated",
            )
        return name

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists, as `rankscope leaderboard --json` prints it."""
        return {
            "measures": [measure.name for measure in self.measures],
            "sort": self.sort,
            "runs": [
                as_dict(entry) | {"group": entry.group or None, "values": dict(entry.values)}
                for entry in self.shown
            ],
            "all_runs": len(self.entries),
            "baselines": list(self.baselines),
            "groups": _describe_tests(self.groups),
            "against_baselines": _describe_tests(self.against),
            "queries": dict(self.queries),
            "policy": self.policy.to_dict(),
            "small_print": list(self.small_print),
            "diagnostics": self.diagnostics,
        }

    def to_html(self) -> str:
        """Return the table as HTML that can be sorted by each measure, without scripts."""
        from rankscope._compare.leaderboard.layout import write_html

        return write_html(self)

    def plot(
        self,
        measure: Measure | str | None = None,
        *,
        ax: Axes | None = None,
        theme: ThemeName = "light",
    ) -> Axes:
        """Draw the runs that are shown by one measure, with their groups and the baselines.

        Args:
            measure: The measure (default: the one that runs are sorted by).
            ax: The axes to draw on (default: axes of a new figure).
            theme: `light` or `dark` background.

        Returns:
            The axes of Matplotlib, which notebooks show, and which `rankscope.plots.save` writes to
            a file.

        Raises:
            UsageError: The leaderboard doesn't have the measure, or Matplotlib isn't installed.
        """
        return draw_leaderboard(self, measure, ax=ax, theme=theme)

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        shown = self.shown
        columns: list[tuple[str, ColumnValues]] = [
            ("rank", [entry.rank for entry in shown]),
            ("run", [entry.run for entry in shown]),
            ("group", [entry.group or None for entry in shown]),
        ]
        columns += [
            (measure.name, [entry.values[measure.name] for entry in shown])
            for measure in self.measures
        ]
        return name_columns(columns)

    def _describe_paper(self, paper: Paper) -> Layout:
        return describe_paper(self, paper)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.shown)

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, run: str) -> Entry:
        """Return the entry of a run, whether or not it is shown.

        Raises:
            UsageError: There is no such run.
        """
        entries = {entry.run: entry for entry in self.entries}
        if run in entries:
            return entries[run]
        closest = find_closest(run, entries)
        raise UsageError(
            f"there is no run {run!r}",
            hint=f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(entries)}",
            code="not_evaluated",
        )

    def __str__(self) -> str:
        short = write_short(self)
        table = write_wide(replace(short, small_print=()))
        # As long as they are, two lines: rows of the table are long, too.
        return "\n".join([table, "", *short.small_print])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankscope._show.html import write_result

        return write_result(write(write_short(self), "html"))


FIELDS = ("measure", "baseline", "run", "difference", "p", "p_corrected", "better")
"""The columns of the table of tests."""


def _describe_tests(tested: ComparedPairs | None) -> dict[str, object] | None:
    """Return tests and how they were made, as dicts and lists."""
    if tested is None:
        return None
    return tested.settings.to_dict() | {
        "comparisons": tested.settings.comparisons,
        "tests": [{name: getattr(pair, name) for name in FIELDS} for pair in tested.comparisons],
        "warnings": list(tested.warnings),
    }


def draw_leaderboard(
    board: Leaderboard,
    measure: Measure | str | None = None,
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the value of each run as a mark, best run at the top, with the letter of its group.

    Marks change with each group. A dashed line goes through the value of each baseline. The runs
    are those that the leaderboard shows, if they have a value.

    Args:
        board: The result of `leaderboard`.
        measure: The measure (default: the one that runs are sorted by).
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The leaderboard doesn't have the measure, Matplotlib isn't installed, or the
            theme doesn't exist.
        EmptyError: No run has a value.
    """
    name = board.sort if measure is None else board.find_measure(measure)
    entries = [entry for entry in board.shown if not math.isnan(entry.values[name])]
    if not entries:
        raise EmptyError(
            f"no run has a value of {name}",
            hint="keep queries without a value: policy='empty=zero'",
            code="no_value",
        )
    names = fit_names([entry.run for entry in entries])
    values = [entry.values[name] for entry in entries]
    baselines = [entry.values[name] for entry in entries if entry.run in board.baselines]
    size = (5.6 + measure_widest(names), 1.2 + 0.24 * len(names))
    ax, colors = open_axes(ax, theme, size, grid="x")
    for value in baselines:
        ax.axvline(value, color=colors.quiet, linewidth=1, linestyle=DASHED, zorder=1)
    for number, group in enumerate(dict.fromkeys(entry.group for entry in entries)):
        places = [at for at, entry in enumerate(entries) if entry.group == group]
        x, mark, color = [values[at] for at in places], MARKERS[number % 2], colors.run[number % 2]
        ax.plot(x, places, mark, color=color, markersize=6, zorder=3)
    beside = ax.get_yaxis_transform()
    for at, entry in enumerate(entries):
        text = f"{values[at]:.4f}  {entry.group}".rstrip()
        annotate(ax, text, (1, at), (5, 0), colors.ink, beside, fontsize=TEXT - 1)
    name_rows(ax, names)
    ax.margins(x=0.06)
    groups = "" if board.groups is None else f", with groups by {board.sort}"
    dashed = "; dashed: baselines" if baselines else ""
    name_axes(ax, colors, title=f"Runs by {name}{groups}", x=f"{name}{dashed}")
    return ax
