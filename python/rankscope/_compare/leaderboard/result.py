"""A leaderboard: runs in the order of a measure, with groups and signs against baselines."""

from __future__ import annotations

from rankscope._compare.leaderboard.layout import describe_paper, lay_out, write_short
from rankscope._evaluate.evaluation import find_name
from rankscope.errors import UsageError
from rankscope.names import find_closest
from rankscope.output.diagnostics import count_codes
from rankscope.output.documents import Documented
from rankscope.output.exports import Tabular, name_columns
from rankscope.output.layout.text import write_wide
from rankscope.output.layout.writers import Written, write
from rankscope.output.table import Table
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes

    from rankscope._compare.result import ComparedPairs
    from rankscope.drawing.palette import ThemeName
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.exports import ColumnValues
    from rankscope.output.layout.description import Layout, Paper
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True, kw_only=True)
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


@record(frozen=True, slots=True, kw_only=True)
class Leaderboard(Written, Documented, Tabular):
    """Runs in the order of a measure, with groups and signs against baselines.

    It prints as a table with one row per run, and iterates over its entries. Exports have the
    columns `rank`, `run`, `group` and one per measure.

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
        return Table(self._tabulate())  # type: ignore[arg-type]  # numbers and texts

    @property
    def tests(self) -> Table:
        """All tests that groups and signs follow from, with the corrected p-values.

        `purpose` says what for: `"group"` or `"baseline"`.
        """
        rows = [
            (purpose, each)
            for purpose, tested in (("group", self.groups), ("baseline", self.against))
            for each in (() if tested is None else tested.comparisons)
        ]
        columns = {name: [getattr(each, name) for _, each in rows] for name in FIELDS}
        return Table({"purpose": [purpose for purpose, _ in rows], **columns})

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
        names = [each.name for each in self.measures]
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
            "measures": [each.name for each in self.measures],
            "sort": self.sort,
            "runs": [
                {
                    "rank": each.rank,
                    "run": each.run,
                    "group": each.group or None,
                    "values": dict(each.values),
                }
                for each in self.shown
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
        from rankscope._compare.leaderboard.html import write_html  # noqa: PLC0415 - loads late

        return write_html(self)

    def plot(self, measure: Measure | str | None = None, *, theme: ThemeName = "light") -> Axes:
        """Draw the runs that are shown by one measure, with their groups and the baselines.

        Args:
            measure: The measure (default: the one that runs are sorted by).
            theme: `light` or `dark` background.

        Returns:
            The axes of Matplotlib, which notebooks show, and which `rankscope.plots.save` writes to
            a file.

        Raises:
            UsageError: The leaderboard doesn't have the measure, or Matplotlib isn't installed.
        """
        from rankscope._compare.leaderboard.chart import draw_leaderboard  # noqa: PLC0415 - loads late

        return draw_leaderboard(self, measure, theme=theme)

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        shown = self.shown
        columns: list[tuple[str, ColumnValues]] = [
            ("rank", [each.rank for each in shown]),
            ("run", [each.run for each in shown]),
            ("group", [each.group or None for each in shown]),
        ]
        columns += [
            (each.name, [entry.values[each.name] for entry in shown]) for each in self.measures
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
        found = next((each for each in self.entries if each.run == run), None)
        if found is None:
            names = [each.run for each in self.entries]
            closest = find_closest(run, names)
            raise UsageError(
                f"there is no run {run!r}",
                hint=f"did you mean {closest!r}?"
                if closest
                else f"the runs are {', '.join(names)}",
                code="not_evaluated",
            )
        return found

    def __str__(self) -> str:
        short = write_short(self)
        table = write_wide(replace(short, small_print=()))
        # As long as they are, two lines: rows of the table are long, too.
        return "\n".join([table, "", *short.small_print])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_result  # noqa: PLC0415 - loads late

        return write_result(write(write_short(self), "html"))


FIELDS = ("measure", "baseline", "run", "difference", "p", "p_corrected", "better")
"""The columns of the table of tests."""


def _describe_tests(tested: ComparedPairs | None) -> dict[str, object] | None:
    """Return tests and how they were made, as dicts and lists."""
    if tested is None:
        return None
    settings = tested.settings
    return {
        "test": settings.test,
        "correction": settings.correction,
        "level": settings.level,
        "permutations": settings.permutations,
        "exact": settings.is_exact,
        "seed": settings.seed,
        "cluster": settings.clusters or None,
        "comparisons": settings.comparisons,
        "tests": [{name: getattr(each, name) for name in FIELDS} for each in tested.comparisons],
        "warnings": list(tested.warnings),
    }
