"""The losses of rankings: how far each query is from the ideal order, and why."""

from __future__ import annotations

from rankscope.output.ids import TEXT
from rankscope.output.table import MeasuredTable, Table
from rankscope.output.text import format_share, format_value, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope._evaluate.slices import Slices
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Column
    from rankscope.settings.policy import Policy

NOT_OBSERVABLE = "not observable"


class Losses(MeasuredTable):
    """A table with the losses of each query, and their means.

    The columns are `query_id`, `value`, `retrieval`, `truncation`, `ordering` and `undefined`. With
    stages, a column for each stage and `final` replace `retrieval`. The numbers of a row add up to
    1, or for DCG, to the DCG of the ideal. They are NaN for a query that the policy leaves out.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"a": 1, "b": 3, "c": 2, "e": 3}}
        >>> run = {"q1": {"x": 6, "a": 5, "y": 4, "b": 3, "z": 2, "c": 1}}
        >>> losses = rs.Rankings.from_run(qrels, run).losses(rs.nDCG @ 3)
        >>> print(losses)
        nDCG@3      0.1071  share of the loss
        retrieval   0.1919  21.5%
        truncation  0.6384  71.5%
        ordering    0.0626   7.0%
        1 of 1 queries
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
        >>> losses.to_dict()["q1"]["ordering"]
        0.0626...
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        means: Mapping[str, float],
        queries: tuple[int, int],
        stages: Sequence[str] = (),
        intervals: Mapping[str, tuple[float, float]] | None = None,
        slices: Slices | None = None,
        notes: Sequence[Diagnostic] = (),
        observes_retrieval: bool = True,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, measure=measure, policy=policy, source=source)
        self._means = dict(means)
        self._queries = queries
        self._stages = tuple(stages)
        self._intervals = dict(intervals or {})
        self._slices = slices
        self._notes = tuple(notes)
        self._observes_retrieval = observes_retrieval

    @property
    def means(self) -> dict[str, float]:
        """The mean of each column. The means add up like the rows."""
        return dict(self._means)

    @property
    def queries(self) -> int:
        """The number of queries in the means."""
        return self._queries[0]

    @property
    def stages(self) -> tuple[str, ...]:
        """The columns of the stages, ending with `final`, if you passed stages."""
        return self._stages

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The lower and upper end of each mean's interval, if you asked for intervals."""
        return dict(self._intervals)

    @property
    def slices(self) -> Slices | None:
        """The means of each slice, largest slice first, if you asked for slices."""
        return self._slices

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes about input that is valid but looks wrong, with code, message and place."""
        return self._notes

    @property
    def observes_retrieval(self) -> bool:
        """Whether the judgments include documents that were not retrieved.

        If the ideal is made of the retrieved documents, the retrieval loss is unknown, not 0.
        """
        return self._observes_retrieval

    def _parts(self) -> list[str | Table]:
        head, *rows = _rows(self)
        columns = {name: [row[at] for row in rows] for at, name in enumerate(head)}
        shown = _shown_slices(self)
        slices: list[str | Table] = [] if shown is None else ["", shown, ""]
        return [Table(columns, numbers=head[1:]), *slices, *_remarks(self)]


def _rows(losses: Losses) -> list[tuple[str, ...]]:
    """Return the rows of the value and the losses, without losses that are always 0."""
    means, intervals = losses.means, losses.intervals
    value = means.pop("value")
    whole = sum(means.values())
    head = (str(losses.measure), format_value(value), *_ends(intervals, "value"))
    rows = [(*head, "share of the loss")]
    for name, mean in means.items():
        if name == "undefined" and mean == 0:
            continue
        if name == "retrieval" and not losses.observes_retrieval:
            rows.append((name, NOT_OBSERVABLE, *([""] if intervals else []), ""))
            continue
        share = format_share(mean / whole).rjust(5) if whole > 0 else ""
        rows.append((show(name), format_value(mean), *_ends(intervals, name), share))
    return rows


def _ends(intervals: Mapping[str, tuple[float, float]], name: str) -> list[str]:
    if not intervals:
        return []
    ends = intervals.get(name)
    return [f"{format_value(ends[0])} to {format_value(ends[1])}" if ends else ""]


def _shown_slices(losses: Losses) -> Slices | None:
    slices = losses.slices
    if slices is None or losses.observes_retrieval:
        return slices
    return slices.keep([name for name in slices.names if name != "retrieval"])


def _remarks(losses: Losses) -> list[str]:
    counted, judged = losses._queries  # noqa: SLF001 - of this module's own class
    return [
        f"{counted} of {judged} queries",
        *(
            []
            if losses.observes_retrieval
            else [
                f"retrieval: {NOT_OBSERVABLE}, because the ideal only has documents that were shown"
            ]
        ),
        f"policy: {losses.policy}",
        *(f"note: {show(str(note))}" for note in losses.notes),
    ]
