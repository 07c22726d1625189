"""The losses of rankings.

The best order of all judged documents, of the retrieved ones, of those down to the cutoff, and the
list as it is: each adds up to no more than the one before it, and the losses are the steps between
them. Sums over queries keep the steps, so that means add up as queries do.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.deferred import np
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.losses.result import Losses
from rankscope.measures import (
    CG,
    DCG,
    IDCG,
    Measure,
    OrderingLoss,
    RetrievalLoss,
    TruncationLoss,
    nDCG,
)
from rankscope.output.diagnostics import describe
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.slices import Slices
    from rankscope.measures.domains import Value
    from rankscope.measures.spec import Row
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.table import Column
    from rankscope.settings.policy import Policy

    Amount: TypeAlias = NDArray[np.float64]
    View: TypeAlias = Callable[[Evaluation, Measure], Amount]

NAMES = ("retrieval", "truncation", "ordering")
FINAL = "final"
RESERVED = ("query_id", "value", *NAMES, FINAL, "undefined")
ROUNDING = 1e-9
"""What is left of a mean is undefined queries, or less than this by rounding."""
NO_DISCOUNT: dict[str, Value] = {"discount": "jk", "base": 1e300}
"""A gain is divided by more than 1 only from the rank on that is the base."""


@record(frozen=True, slots=True)
class Parts:
    """The measures that a loss ledger consists of.

    Args:
        value: The measure.
        losses: What is lost by retrieval, truncation and ordering, as shares of the ideal.
        ideal: The measure of the ideal, where losses are in its units; none where they are shares.
    """

    value: Measure
    losses: tuple[Measure, Measure, Measure]
    ideal: Measure | None

    @classmethod
    def of(cls, measure: Measure) -> Parts:
        """List the measures that make up the loss ledger of a measure."""
        row = measure.row
        if row.name not in {nDCG.row.name, DCG.row.name, CG.row.name}:
            raise MeasureError(
                f"expected nDCG, DCG or CG, whose losses are sums over documents, found {measure}",
                hint=f"write nDCG@{measure.k or 10}: what {row.name} lacks cannot be split into "
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
        ideal = None if row.name == nDCG.row.name else take_settings(IDCG.row, measure)
        return cls(measure, (retrieval, truncation, ordering), ideal)


def take_settings(row: Row, measure: Measure) -> Measure:
    """Return a measure of discounted gain with the settings of another."""
    settings = measure.settings | (NO_DISCOUNT if measure.row.name == CG.row.name else {})
    values = (settings.get(parameter.name, parameter.default) for parameter in row.parameters)
    return Measure(row, tuple(values))


@record(frozen=True, slots=True, kw_only=True)
class Accounts:
    """The evaluations that make up a loss ledger, all over the same queries.

    Args:
        parts: The measures.
        values: Of the measure, and of the ideal where there is one.
        losses: Of the losses; queries that are undefined are left out or count as 0.
        stages: By name, of the retrieval loss of each stage before the lists.
        observes_retrieval: Whether documents are known that were not retrieved.
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
    intervals = {
        name: evaluation.intervals[measure.name]
        for name, (evaluation, measure) in _list_intervals(accounts).items()
    }
    return Losses(
        {"query_id": lambda: values.query_texts, **rows},
        measure=parts.value,
        policy=values.policy,
        means={name: float(mean) for name, mean in means.items()},
        queries=(values.denominators[parts.value.name], values.counts.queries),
        stages=[*accounts.stages, FINAL] if accounts.stages else (),
        intervals=intervals,
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
    found = {"value": (accounts.values, parts.value)}
    if parts.ideal is None:
        pairs = zip(NAMES, parts.losses, strict=True)
        found |= {name: (accounts.losses, loss) for name, loss in pairs}
    if accounts.stages:
        found.pop("retrieval", None)
    return found


def _note_stages(accounts: Accounts, rows: Mapping[str, Amount]) -> list[Diagnostic]:
    """Note the queries missing from a stage, and those with documents that no earlier stage had."""
    notes = []
    for name, evaluation in accounts.stages.items():
        lacking = [note for note in evaluation.notes if note.code == "n_missing"]
        notes += [replace(note, file=name) for note in lacking]
    for name in [*accounts.stages, FINAL][1:] if accounts.stages else ():
        gaining = int((rows[name] < 0).sum())
        if gaining:
            notes.append(describe("stage_gains", gaining, {"stage": name}))
    return notes
