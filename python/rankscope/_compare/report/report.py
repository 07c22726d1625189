"""The contents of a report, as frozen records."""

from __future__ import annotations

from rankscope.output.text import format_value, show
from rankscope.records import as_dict, record
from rankscope.writing import write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from rankscope._compare.report.comparison import RunComparison
    from rankscope._evaluate.evaluation import Counts
    from rankscope.bounds.result import Bounds
    from rankscope.derivation.explanation import Explanation
    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.table import Table
    from rankscope.ties.result import TieAudit, TieSummary

    Found = TypeVar("Found")


@record(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The losses of a value. They add up to 1 with the value.

    Args:
        value: The value.
        ordering: What is lost by the order down to the cutoff.
        truncation: What is lost by relevant documents that were retrieved below the cutoff.
        retrieval: What is lost by relevant documents that were not retrieved; `None` where it is
            not observable.
        undefined: What is lost by queries without an ideal, which have the value that the policy
            gives them.
    """

    value: float
    ordering: float
    truncation: float
    retrieval: float | None
    undefined: float

    @property
    def losses(self) -> dict[str, float]:
        """The observable losses by name."""
        named = as_dict(self).items()
        return {name: loss for name, loss in named if name != "value" and loss is not None}

    @property
    def largest_loss(self) -> str:
        """The name of the largest loss, empty if there is none."""
        name, loss = max(self.losses.items(), key=lambda pair: pair[1])
        return name if loss > 0 else ""


NAMES: tuple[str, ...] = Ledger.__match_args__


@record(frozen=True, slots=True, kw_only=True)
class LossTable:
    """The losses of a measure.

    Args:
        measure: Its name.
        k: Its cutoff; `None` for whole lists.
        ledgers: That of each run; none where `refusal` says why.
        parts: By the value of an attribute, those of the first run.
        refusal: Why there are none; empty where there are.
    """

    measure: str
    k: int | None
    ledgers: tuple[Ledger, ...]
    parts: tuple[tuple[str, Ledger], ...]
    refusal: str

    @property
    def observes_retrieval(self) -> bool:
        """Whether it is known which relevant documents weren't retrieved."""
        return all(ledger.retrieval is not None for ledger in self.ledgers)

    @property
    def has_undefined(self) -> bool:
        """Whether queries without an ideal cause any loss."""
        rows = [*self.ledgers, *(ledger for _, ledger in self.parts)]
        return any(ledger.undefined != 0 for ledger in rows)


def read_losses(measure: Measure, outcomes: Sequence[Losses | str], *, most: int) -> LossTable:
    """Return the losses of a measure from those of each run, or why a run has none."""
    refusal, held = split_refusals(outcomes)
    slices = held[0].slices if held else None
    parts = [] if slices is None else read_ledgers(held[0], slices)
    names = () if slices is None else slices.labels[:most]
    return LossTable(
        measure=measure.name,
        k=measure.k,
        ledgers=tuple(_make_ledger(each, each.means) for each in held),
        parts=tuple(zip(map(str, names), parts, strict=False)),
        refusal=refusal,
    )


def read_ledgers(losses: Losses, table: Table) -> list[Ledger]:
    """Return the losses in each row of a table."""
    columns = [table.array(name).tolist() for name in NAMES]
    rows = (dict(zip(NAMES, row, strict=True)) for row in zip(*columns, strict=True))
    return [_make_ledger(losses, row) for row in rows]


def _make_ledger(losses: Losses, amounts: Mapping[str, float]) -> Ledger:
    shown: dict[str, Any] = {name: amounts[name] for name in NAMES}
    return Ledger(**shown | ({} if losses.observes_retrieval else {"retrieval": None}))


@record(frozen=True, slots=True, kw_only=True)
class Bound:
    """A mean, and its lowest and highest possible value.

    Args:
        value: The mean.
        lower: The smallest that it could be, whatever grades the unjudged documents have.
        upper: The largest.
        unjudged: How many documents of the lists are unjudged.
        open: How many queries have such documents.
        certain: How many queries have one value, whatever these are.
    """

    value: float
    lower: float
    upper: float
    unjudged: int
    open: int
    certain: int


@record(frozen=True, slots=True, kw_only=True)
class BoundTable:
    """The table of what unjudged documents could still change.

    Args:
        measure: Of which measure.
        scale: The grades that they may have.
        rows: The bounds of each run; none where `refusal` says why.
        refusal: Why there are no bounds; empty where there are.
    """

    measure: str
    scale: tuple[float, ...]
    rows: tuple[Bound, ...]
    refusal: str


@record(frozen=True, slots=True, kw_only=True)
class TieTable:
    """The table of what the order of ties could still change.

    Args:
        measure: Of which measure.
        rows: That of each run; none where `refusal` says why.
        refusal: Why there are none; empty where there are.
    """

    measure: str
    rows: tuple[TieSummary, ...]
    refusal: str


def split_refusals(outcomes: Sequence[Found | str]) -> tuple[str, list[Found]]:
    """Return why the first result is missing, or else all results."""
    refusal = next((each for each in outcomes if isinstance(each, str)), "")
    return refusal, [each for each in outcomes if not (refusal or isinstance(each, str))]


def read_bounds(measure: str, outcomes: Sequence[Bounds | str]) -> BoundTable:
    """Return the table of bounds from those of each run, or why a run has none."""
    refusal, bounded = split_refusals(outcomes)
    return BoundTable(
        measure=measure,
        scale=bounded[0].scale if bounded else (),
        rows=tuple(map(_read_bound, bounded)),
        refusal=refusal,
    )


def _read_bound(bounds: Bounds) -> Bound:
    return Bound(
        value=bounds.mean.value,
        lower=bounds.mean.lower,
        upper=bounds.mean.upper,
        unjudged=bounds.openness.unjudged,
        open=bounds.openness.open,
        certain=bounds.openness.certain,
    )


def read_ties(measure: str, outcomes: Sequence[TieAudit | str]) -> TieTable:
    """Return the table of ties from those of each run, or why a run has none."""
    refusal, audited = split_refusals(outcomes)
    return TieTable(measure=measure, rows=tuple(each.summary for each in audited), refusal=refusal)


HEIGHT = 640
"""The height of a report in a notebook, in pixels. It scrolls by itself."""


@record(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that was read.

    Args:
        role: `judgments`, `run` or `table`.
        name: Its path, as it was given.
        size: Its bytes; 0 of what was not a file.
        sha256: The SHA-256 of its bytes, hexadecimal; empty of what was not a file.
    """

    role: str
    name: str
    size: int
    sha256: str


@record(frozen=True, slots=True, kw_only=True)
class ReportMean:
    """The mean of a measure over the queries of a run.

    Args:
        measure: Its name.
        value: The mean, or what the policy takes in its place.
        lower: The lower end of its interval; `None` without one.
        upper: The upper end.
        queries: How many queries it is over.
    """

    measure: str
    value: float
    lower: float | None
    upper: float | None
    queries: int


@record(frozen=True, slots=True, kw_only=True)
class MeasureFacts:
    """Facts about a measure.

    Args:
        name: Its canonical name.
        definition: What it says, in one sentence.
        undefined: Where it has no value; empty where it always has one.
        low: The least value.
        high: The greatest value; infinite where there is none.
    """

    name: str
    definition: str
    undefined: str
    low: float
    high: float


@record(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    """A document of a ranked list.

    Args:
        rank: Its rank, from 1.
        doc_id: Its id; empty where the rankings have none.
        grade: Its grade; `None` where it is unjudged.
    """

    rank: int
    doc_id: str
    grade: float | None


@record(frozen=True, slots=True, kw_only=True)
class WorstQuery:
    """A query for which a run has a low value.

    Args:
        query_id: Its id.
        value: The value of the first measure.
        relevant: How many of its judged documents have a grade above 0.
        found: How many of these were retrieved.
        retrieved: How many documents were retrieved.
        documents: The list, down to the cutoff.
        explanation: Where its value comes from; `None` where the measure has no explanation.
        ledger: What its value lacks; `None` where the measure has no ledger.
    """

    query_id: str
    value: float
    relevant: int
    found: int
    retrieved: int
    documents: tuple[ListedDocument, ...]
    explanation: Explanation | None
    ledger: Ledger | None


@record(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts about a run.

    Args:
        name: What the page calls it.
        means: The value of each measure.
        counts: What the means are made of.
        judged: The share of judged documents down to the cutoff, as a mean over queries.
        worst: The queries with the lowest values, lowest first.
    """

    name: str
    means: tuple[ReportMean, ...]
    counts: Counts
    judged: ReportMean
    worst: tuple[WorstQuery, ...]


@record(frozen=True, slots=True, kw_only=True)
class QueryTable:
    """The values of the queries.

    Args:
        title: What the values are.
        columns: What each column is: runs, or measures.
        query_ids: The queries.
        relevant: How many relevant documents each has.
        values: By column, the value of each query; NaN where the policy leaves it out.
        spreads: Between runs, how far apart the values of each query are; none of one run.
    """

    title: str
    columns: tuple[str, ...]
    query_ids: tuple[str, ...]
    relevant: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    spreads: tuple[float, ...]

    def rows(self) -> Iterator[tuple[str, int, tuple[float, ...]]]:
        """Return each query with its relevant documents and its values."""
        return zip(self.query_ids, self.relevant, zip(*self.values, strict=True), strict=True)


@record(frozen=True, slots=True, kw_only=True)
class ReportSlice:
    """A slice: the queries with one value of an attribute.

    Args:
        name: The value.
        queries: How many they are.
        means: The value of each measure over them.
    """

    name: str
    queries: int
    means: tuple[ReportMean, ...]


@record(frozen=True, slots=True, kw_only=True)
class Slices:
    """The measures by slice of an attribute.

    Args:
        attribute: Its name, or several with commas between.
        parts: Those with most queries first.
        left_out: The number of slices that are not shown.
    """

    attribute: str
    parts: tuple[ReportSlice, ...]
    left_out: int


@record(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """A field of the policy, and its meaning.

    Args:
        field: Its name.
        value: Its value, as text.
        meaning: What that says, in one sentence.
    """

    field: str
    value: str
    meaning: str


@record(frozen=True, slots=True, kw_only=True)
class Remark:
    """A diagnostic, and where it occurs.

    Args:
        note: What it was.
        runs: In which runs; empty where it is about what all have in common.
    """

    note: Diagnostic
    runs: tuple[str, ...]


@record(frozen=True, slots=True, kw_only=True)
class ReportCommand:
    """A command that reproduces a value.

    Args:
        purpose: What it gives.
        text: The command line, or the call in Python.
    """

    purpose: str
    text: str


@record(frozen=True, slots=True, kw_only=True)
class Report:
    """A report. `to_html` renders it as a page, and `write` writes the page to a file.

    One input gives one report, byte by byte: it has no date in it.

    Args:
        title: What was evaluated.
        measures: The measures, in the order in which they were asked for.
        runs: The runs, in the order in which they were given.
        level: With which probability the intervals cover; `None` without them.
        interval_methods: How the intervals were computed.
        interval_reasons: Why some means have no interval.
        comparison: Which run is better, by how much and how sure that is; `None` for one run.
        losses: For each measure of discounted gain, what the values lack, and through what.
        bounds: What unjudged documents could still change of the first measure.
        ties: What the order of equal scores could still change of each measure.
        tables: The values of the queries.
        left_out: How many queries the tables leave out.
        slices: The measures by group, where there are attributes.
        convention: The convention, and how it was held against its library; empty without one.
        policy: The policy, field by field.
        remarks: What was suspicious but legal.
        inputs: What was read.
        versions: The names and versions of what computed.
        commands: What gives the numbers again.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d1": 1, "d2": 0}}
        >>> report = rs.report(
        ...     qrels, {"old": {"q1": {"d1": 1.0}}, "new": {"q1": {"d2": 1.0}}}, "RR"
        ... )
        >>> [(run.name, run.means[0].value) for run in report.runs]
        [('old', 1.0), ('new', 0.0)]
        >>> report.to_html()[:15]
        '<!doctype html>'
    """

    title: str
    measures: tuple[MeasureFacts, ...]
    runs: tuple[RunFacts, ...]
    level: float | None
    interval_methods: tuple[str, ...]
    interval_reasons: tuple[str, ...]
    comparison: RunComparison | None
    losses: tuple[LossTable, ...]
    bounds: BoundTable
    ties: tuple[TieTable, ...]
    tables: tuple[QueryTable, ...]
    left_out: int
    slices: Slices | None
    convention: str
    policy: tuple[PolicyField, ...]
    remarks: tuple[Remark, ...]
    inputs: tuple[InputFile, ...]
    versions: tuple[tuple[str, str], ...]
    commands: tuple[ReportCommand, ...]

    def means_of(self, measure: str) -> tuple[ReportMean, ...]:
        """Return the mean of a measure for each run."""
        return tuple(mean for run in self.runs for mean in run.means if mean.measure == measure)

    def to_html(self) -> str:
        """Return the page, which needs no other files.

        Raises:
            UsageError: Jinja is not installed.
        """
        from rankscope._compare.report.render import render  # noqa: PLC0415 - loads Jinja

        return render(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all.

        Raises:
            UsageError: Jinja is not installed.
            FileError: The file cannot be written.
        """
        write_text(path, self.to_html())

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        # The page has its own origin: its script sorts tables, and can't reach the notebook.
        page = escape(self.to_html()).encode("ascii", "xmlcharrefreplace").decode()
        return (
            f'<iframe title="{escape(show(self.title))}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid rgba(128,128,128,.4)" '
            f'srcdoc="{page}"></iframe>'
        )

    def __str__(self) -> str:
        lines = [self.title]
        for run in self.runs:
            means = ", ".join(f"{mean.measure} {format_value(mean.value)}" for mean in run.means)
            lines.append(f"{show(run.name)}: {means}")
        if self.comparison is not None and self.comparison.verdict is not None:
            lines.append(str(self.comparison.verdict))
        return "\n".join(lines)

    __repr__ = __str__
