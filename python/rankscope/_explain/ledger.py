"""The losses of rankings: how far each query is from the ideal order, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._drawing import ThemeName
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import Slices
from rankscope._settings import Policy
from rankscope._show.diagnostics import Diagnostic, describe
from rankscope._show.table import (
    TEXT,
    MeasuredTable,
    SourceIds,
    Table,
    format_share,
    format_value,
    show,
)
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.measures import IDCG, Measure, OrderingLoss, RetrievalLoss, TruncationLoss
from rankscope.measures.domains import Value
from rankscope.measures.spec import Row

Amount: TypeAlias = NDArray[np.float64]
View: TypeAlias = Callable[[Evaluation, Measure], Amount]

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._show.table import Column


NOT_OBSERVABLE = "not observable"


class Losses(MeasuredTable):
    """A table with the losses of each query, and their means.

    The columns are `query_id`, `value`, `retrieval`, `truncation`, `ordering` and `undefined`. With
    stages, a column for each stage and `final` replace `retrieval`. The numbers of a row add up to
    1, or for DCG, to the DCG of the ideal. They are NaN for a query that the policy leaves out.
    `plot` draws the losses by slice.

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
        slices = self._slices
        if slices is not None and not self._observes_retrieval:
            slices = slices.keep([name for name in slices.names if name != "retrieval"])
        shown: list[str | Table] = [] if slices is None else ["", slices, ""]
        return [Table(columns, numbers=head[1:]), *shown, *self._remarks()]

    def _remarks(self) -> list[str]:
        counted, judged = self._queries
        unseen = f"{NOT_OBSERVABLE}, because the ideal only has documents that were shown"
        return [
            f"{counted} of {judged} queries",
            *([] if self._observes_retrieval else [f"retrieval: {unseen}"]),
            f"policy: {self._policy}",
            *(f"note: {show(str(note))}" for note in self._notes),
        ]

    def plot(
        self,
        *,
        by: str | None = None,
        is_over_time: bool = False,
        ax: Axes | None = None,
        theme: ThemeName = "light",
    ) -> Axes:
        """Draw the losses of each slice; see `rankscope.plots.draw_losses`."""
        from rankscope.plots import draw_losses

        return draw_losses(self, by=by, is_over_time=is_over_time, ax=ax, theme=theme)


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


NAMES = ("retrieval", "truncation", "ordering")
FINAL = "final"
RESERVED = ("query_id", "value", *NAMES, FINAL, "undefined")
ROUNDING = 1e-9
"""What is left of a mean is undefined queries, or less than this by rounding."""
NO_DISCOUNT: dict[str, Value] = {"discount": "jk", "base": 1e300}
"""A gain is divided by more than 1 only from the rank on that is the base."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A measure and its losses, which are shares of an ideal, or `None` if they are shares of 1."""

    value: Measure
    losses: tuple[Measure, Measure, Measure]
    ideal: Measure | None

    @classmethod
    def of(cls, measure: Measure) -> Parts:
        """List the measures that make up the loss ledger of a measure."""
        name = measure.row.name
        if name not in {"nDCG", "DCG", "CG"}:
            raise MeasureError(
                f"expected nDCG, DCG or CG, whose losses are sums over documents, found {measure}",
                hint=f"write nDCG@{measure.k or 10}: what {name} lacks cannot be split into "
                "documents that were not retrieved and documents in the wrong order",
                code="losses_unavailable",
            )
        if measure.parameters.get("ideal") == "slots":
            raise MeasureError(
                f"expected an ideal order of documents, found {measure}, whose ideal has ranks "
                "for which there may be none",
                hint="leave ideal out: losses add up to the best that the documents allow",
                code="losses_unavailable",
            )
        retrieval, truncation, ordering = (
            take_settings(loss.row, measure)
            for loss in (RetrievalLoss, TruncationLoss, OrderingLoss)
        )
        ideal = None if name == "nDCG" else take_settings(IDCG.row, measure)
        return cls(measure, (retrieval, truncation, ordering), ideal)


def take_settings(row: Row, measure: Measure) -> Measure:
    """Return a measure of discounted gain with the settings of another."""
    settings = measure.settings | (NO_DISCOUNT if measure.row.name == "CG" else {})
    values = (settings.get(parameter.name, parameter.default) for parameter in row.parameters)
    return Measure(row, tuple(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """The evaluations that make up a loss ledger, all over the same queries.

    Queries that are undefined have losses of 0, or are left out. `stages` has the retrieval loss of
    each stage before the lists, by name.
    """

    parts: Parts
    values: Evaluation
    losses: Evaluation
    stages: Mapping[str, Evaluation]
    observes_retrieval: bool


def check_policy(policy: Policy) -> None:
    """Raise an error for a policy under which losses don't add up."""
    if policy.aggregate not in {"mean", "ratio_of_sums"}:
        raise PolicyError(
            "expected aggregate=mean or ratio_of_sums, under which losses add up, found "
            f"{policy.aggregate}",
            hint="leave aggregate out",
            code="aggregate_unavailable",
        )


def check_stages(stages: Mapping[str, object]) -> None:
    """Raise an error for stages without names, or with the names of other columns."""
    if not isinstance(stages, Mapping):
        raise UsageError(
            f"expected stages as a mapping of name to run, found {type(stages).__name__}",
            hint="write {'retriever': 'retriever.run'}",
            code="bad_parameter",
        )
    for name in stages:
        if name in RESERVED:
            raise UsageError(
                f"expected stages with names of their own, found {name!r}",
                hint=f"{', '.join(RESERVED)} are columns already",
                code="bad_parameter",
            )


def make_ledger(accounts: Accounts) -> Losses:
    """Make a loss ledger from evaluations."""
    parts, values = accounts.parts, accounts.values
    rows = _split(accounts, lambda evaluation, measure: evaluation.per_query(measure))
    means = _split(accounts, lambda evaluation, measure: np.asarray(evaluation[measure]))
    intervals = _list_intervals(accounts).items()
    return Losses(
        {"query_id": lambda: values.query_texts, **rows},
        measure=parts.value,
        policy=values.policy,
        means={name: float(mean) for name, mean in means.items()},
        queries=(values.denominators[parts.value.name], values.counts.queries),
        stages=[*accounts.stages, FINAL] if accounts.stages else (),
        intervals={name: of.intervals[measure.name] for name, (of, measure) in intervals},
        slices=None if values.slices is None else _slice(accounts, values.slices),
        notes=[*values.notes, *_note_stages(accounts, rows)],
        observes_retrieval=accounts.observes_retrieval,
        source=values.source,
    )


def _split(accounts: Accounts, view: View) -> dict[str, Amount]:
    """Split the loss by query, as means, or as means of slices."""
    parts = accounts.parts
    whole = None if parts.ideal is None else view(accounts.values, parts.ideal)

    def look(evaluation: Evaluation, loss: Measure) -> Amount:
        share = view(evaluation, loss)
        # Nothing has no shares.
        return share if whole is None else np.where(whole == 0, 0.0, share) * whole

    value = view(accounts.values, parts.value)
    terms = {"value": value}
    retrieval, *others = (look(accounts.losses, loss) for loss in parts.losses)
    before: Amount | float = 0.0
    for name, evaluation in accounts.stages.items():
        lost = look(evaluation, parts.losses[0])
        terms[name] = lost - before
        before = lost
    terms[FINAL if accounts.stages else "retrieval"] = retrieval - before
    terms |= dict(zip(NAMES[1:], others, strict=True))
    # A sum has something of this only where it has no ideal, and gains nevertheless.
    rest = np.asarray((1.0 if whole is None else whole) - sum(terms.values()))
    terms["undefined"] = np.where(abs(rest) < ROUNDING, 0.0, rest)
    return terms


def _slice(accounts: Accounts, slices: Slices) -> Slices:
    """Make the table of means by slice."""

    def view(evaluation: Evaluation, measure: Measure) -> Amount:
        return np.array((evaluation.slices or slices).column(measure.name), dtype=np.float64)

    columns: dict[str, Column] = {"queries": slices.column("queries")}
    intervals = _list_intervals(accounts)
    for name, term in _split(accounts, view).items():
        columns[name] = term
        if name in intervals:
            evaluation, measure = intervals[name]
            ends = evaluation.slices or slices
            for end in ("lower", "upper"):
                columns[f"{name} {end}"] = ends.column(f"{measure.name} {end}")
    return slices.describe(columns)


def _list_intervals(accounts: Accounts) -> dict[str, tuple[Evaluation, Measure]]:
    """List the columns that have intervals, and where the intervals come from."""
    parts = accounts.parts
    if not accounts.values.intervals:
        return {}
    intervals = {"value": (accounts.values, parts.value)}
    if parts.ideal is None:
        pairs = zip(NAMES, parts.losses, strict=True)
        intervals |= {name: (accounts.losses, loss) for name, loss in pairs}
    if accounts.stages:
        intervals.pop("retrieval", None)
    return intervals


def _note_stages(accounts: Accounts, rows: Mapping[str, Amount]) -> list[Diagnostic]:
    """Note the queries missing from a stage, and those with documents that no earlier stage had."""
    notes = [
        replace(note, file=name)
        for name, evaluation in accounts.stages.items()
        for note in evaluation.notes
        if note.code == "n_missing"
    ]
    for name in [*accounts.stages, FINAL][1:] if accounts.stages else ():
        gaining = int((rows[name] < 0).sum())
        if gaining:
            notes.append(describe("stage_gains", gaining, {"stage": name}))
    return notes
