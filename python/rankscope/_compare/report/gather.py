"""Collects the contents of a report from results and the policy."""

from __future__ import annotations

import math
import os
import sys

from rankscope._compare.report.comparison import read_comparison
from rankscope._compare.report.report import (
    ListedDocument,
    MeasureFacts,
    PolicyField,
    QueryTable,
    Remark,
    Report,
    ReportMean,
    ReportSlice,
    RunFacts,
    Slices,
    WorstQuery,
    read_bounds,
    read_ledgers,
    read_losses,
    read_ties,
)
from rankscope._core import POLICY, __version__
from rankscope._inputs.recognition import shorten_names
from rankscope.output.diagnostics import merge
from rankscope.output.table import name_rows
from rankscope.records import record
from rankscope.settings.interval import METHODS
from rankscope.settings.policy import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankscope._compare.report.report import ReportCommand
    from rankscope._compare.report.source import HashedInput
    from rankscope._compare.result import Comparison
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.slices import Slices as EvaluatedSlices
    from rankscope.bounds.result import Bounds
    from rankscope.derivation.explanation import Explanation
    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.output.table import Cell
    from rankscope.settings.policy import Policy
    from rankscope.ties.result import TieAudit

    Columns = Sequence[tuple[Evaluation, str]]

MOST_VALUES = 40_000
"""More values than these, of all queries, measures and runs, make a page slow."""


MOST_PARTS = 1_000
"""Likewise of the parts of an attribute, of which the largest are shown."""


@record(frozen=True, slots=True, kw_only=True)
class EvaluatedRun:
    """The results of a run.

    Args:
        name: What it is called, such as the path of its file.
        evaluation: The measures that were asked for.
        judged: The measure `Judged`, down to the cutoff of the first measure.
        facts: The measures `NumRel`, `NumRelRet` and `NumRet`, in this order.
        losses: By measure, its ledger, or why it has none.
        bounds: What the first measure could be whatever the unjudged documents are, or why that is
            not known.
        ties: By measure, what it could be in other orders of ties, or why that is not known.
        list_documents: Gives the documents and grades of a query, in rank order.
        explain: Explains the value of a query, down to a rank at most; gives nothing for measures
            that have no explanation.
    """

    name: str
    evaluation: Evaluation
    judged: Evaluation
    facts: Evaluation
    losses: Mapping[str, Losses | str]
    bounds: Bounds | str
    ties: Mapping[str, TieAudit | str]
    list_documents: Callable[[str], Sequence[tuple[str, float]]]
    explain: Callable[[str, int], Explanation | None]


def gather(
    runs: Sequence[EvaluatedRun],
    *,
    compared: Comparison | str | None,
    held: Sequence[HashedInput],
    commands: Sequence[ReportCommand],
    level: float | None,
    worst: int,
) -> Report:
    """Collect the contents of a report."""
    first = runs[0].evaluation
    row = first.convention
    names = shorten_names([run.name for run in runs])
    shown = _choose_shown(runs)
    estimates = [each for run in runs for each in run.evaluation.estimates.values()]
    return Report(
        title=_title(held),
        measures=tuple(map(_describe, first.measures)),
        runs=tuple(
            RunFacts(
                name=name,
                means=_read_means(run.evaluation),
                counts=run.evaluation.counts,
                judged=_read_means(run.judged)[0],
                worst=_find_worst(run, worst),
            )
            for name, run in zip(names, runs, strict=True)
        ),
        level=level,
        interval_methods=_list_different(METHODS.get(each.method, "") for each in estimates),
        interval_reasons=_list_different(each.reason for each in estimates),
        losses=tuple(
            read_losses(measure, [run.losses[measure.name] for run in runs], most=MOST_PARTS)
            for measure in first.measures
            if measure.name in runs[0].losses
        ),
        comparison=None if compared is None else read_comparison(compared),
        bounds=read_bounds(first.measures[0].name, [run.bounds for run in runs]),
        ties=tuple(read_ties(name, [run.ties[name] for run in runs]) for name in first),
        tables=_make_tables(runs, names, shown),
        left_out=len(first.query_ids) - len(shown),
        slices=None if first.slices is None else _read_slices(first, first.slices),
        convention="" if row is None else f"{row.address} ({row.verified})",
        policy=explain_policy(first.policy),
        remarks=_merge_notes(runs, names),
        inputs=tuple(file for each in held for file in each.files),
        versions=_versions(),
        commands=tuple(commands),
    )


def _list_different(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _title(held: Sequence[HashedInput]) -> str:
    names = [os.path.basename(each.name) or each.name for each in held]  # noqa: PTH119 - a text
    if len(names) < 2:
        return names[0]
    runs = names[1] if len(names) == 2 else f"{len(names) - 1} runs"
    return f"{runs} against {names[0]}"


def _describe(measure: Measure) -> MeasureFacts:
    row = measure.row
    low, high = row.value_range
    return MeasureFacts(
        name=measure.name,
        definition=row.summary,
        undefined=row.undefined,
        low=low,
        high=high,
    )


def _read_means(evaluation: Evaluation) -> tuple[ReportMean, ...]:
    intervals = evaluation.intervals
    means = []
    for name, queries in evaluation.denominators.items():
        lower, upper = map(_number, intervals.get(name, (None, None)))
        means.append(
            ReportMean(
                measure=name, value=evaluation[name], lower=lower, upper=upper, queries=queries
            )
        )
    return tuple(means)


def _read_slices(evaluation: Evaluation, table: EvaluatedSlices) -> Slices:
    attribute = ", ".join(table.attributes)
    rows = name_rows(table)[:MOST_PARTS]
    parts = [
        ReportSlice(
            name=name,
            queries=_count(row["queries"]),
            means=tuple(
                ReportMean(
                    measure=measure,
                    value=_read(row[measure]),
                    lower=_number(row.get(f"{measure} lower")),
                    upper=_number(row.get(f"{measure} upper")),
                    queries=_count(row[f"{measure} n"]),
                )
                for measure in evaluation
            ),
        )
        for name, row in zip(table.labels, rows, strict=False)
    ]
    return Slices(attribute=attribute, parts=tuple(parts), left_out=len(table) - len(parts))


def _number(cell: Cell) -> float | None:
    return None if cell is None or math.isnan(float(cell)) else float(cell)


def _read(cell: Cell) -> float:
    return math.nan if cell is None else float(cell)


def _count(cell: Cell) -> int:
    return 0 if cell is None else int(cell)


def _find_worst(run: EvaluatedRun, limit: int) -> tuple[WorstQuery, ...]:
    """Find the lowest values of queries with relevant documents."""
    measure = run.evaluation.measures[0]
    values = run.evaluation.per_query_list(measure)
    relevant, found, retrieved = (
        list(map(int, run.facts.per_query_list(each))) for each in run.facts.measures
    )
    ids = run.evaluation.query_texts
    found_losses = run.losses.get(measure.name, "")
    ledgers = None if isinstance(found_losses, str) else read_ledgers(found_losses, found_losses)
    open_to_change = [
        at for at, value in enumerate(values) if relevant[at] and not math.isnan(value)
    ]
    worst = sorted(open_to_change, key=lambda at: (values[at], -relevant[at], ids[at]))[:limit]
    return tuple(
        WorstQuery(
            query_id=ids[at],
            value=values[at],
            relevant=relevant[at],
            found=found[at],
            retrieved=retrieved[at],
            explanation=run.explain(ids[at], DEEPEST),
            documents=_list(run, ids[at], measure.k or DEEPEST),
            ledger=None if ledgers is None else ledgers[at],
        )
        for at in worst
    )


DEEPEST = 20
"""How many documents of a list are shown for a measure without a cutoff, and at most."""


def _list(run: EvaluatedRun, query: str, k: int) -> tuple[ListedDocument, ...]:
    documents = run.list_documents(query)[: min(k, DEEPEST)]
    return tuple(
        ListedDocument(rank=rank, doc_id=doc, grade=None if math.isnan(grade) else grade)
        for rank, (doc, grade) in enumerate(documents, start=1)
    )


def _choose_shown(runs: Sequence[EvaluatedRun]) -> list[int]:
    """Choose the queries to show: all, or those with the lowest values of the first run."""
    evaluation = runs[0].evaluation
    values = evaluation.per_query_list(evaluation.measures[0])
    most = max(1, MOST_VALUES // (len(runs) * len(evaluation.measures)))
    if len(values) <= most:
        return list(range(len(values)))
    ids = evaluation.query_texts
    keys = [(math.inf if math.isnan(value) else value, ids[at]) for at, value in enumerate(values)]
    lowest = sorted(range(len(values)), key=keys.__getitem__)
    return sorted(lowest[:most])


def _make_tables(
    runs: Sequence[EvaluatedRun], names: Sequence[str], shown: list[int]
) -> tuple[QueryTable, ...]:
    """Make one table per measure for several runs, or one table of all measures for one run."""
    first = runs[0]
    measures = [measure.name for measure in first.evaluation.measures]
    ids = first.evaluation.query_texts
    relevant = first.facts.per_query_list(first.facts.measures[0])

    is_one = len(runs) == 1

    def make(title: str, columns: Sequence[str], pairs: Columns) -> QueryTable:
        whole = [evaluation.per_query_list(measure) for evaluation, measure in pairs]
        values = [[column[at] for at in shown] for column in whole]
        rows: Iterable[tuple[float, ...]] = () if is_one else zip(*values, strict=True)
        return QueryTable(
            title=title,
            columns=tuple(columns),
            query_ids=tuple(ids[at] for at in shown),
            relevant=tuple(int(relevant[at]) for at in shown),
            values=tuple(map(tuple, values)),
            spreads=tuple(map(_spread, rows)),
        )

    if is_one:
        return (make(names[0], measures, [(first.evaluation, name) for name in measures]),)
    return tuple(make(name, names, [(run.evaluation, name) for run in runs]) for name in measures)


def _spread(row: Sequence[float]) -> float:
    return math.nan if any(map(math.isnan, row)) else max(row) - min(row)


def _merge_notes(runs: Sequence[EvaluatedRun], names: Sequence[str]) -> tuple[Remark, ...]:
    """Merge notes, each with the runs it occurs in unless it is the same in all."""
    of_runs = zip(names, (run.evaluation.notes for run in runs), strict=True)
    return tuple(Remark(note=note, runs=where) for note, where in merge(dict(of_runs)))


def _versions() -> tuple[tuple[str, str], ...]:
    import platform  # noqa: PLC0415 - it loads slowly

    return (
        ("rankscope", __version__),
        ("Python", platform.python_version()),
        ("system", f"{sys.platform} {platform.machine()}"),
    )


def explain_policy(policy: Policy) -> tuple[PolicyField, ...]:
    """Return the fields of a policy, each with its value and what that means."""
    values = policy.to_dict()
    return tuple(
        PolicyField(field=field, value=_write(values[field]), meaning=_mean(field, values[field]))
        for field in FIELDS
    )


def _write(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _mean(field: str, value: object) -> str:
    if field == "missing_gain":
        gain = 0 if value is None else value
        return f"A rank down to the cutoff at which a list has no document has the gain {gain}."
    if field == "unjudged" and not isinstance(value, str):
        return f"A retrieved document without a judgment has the gain {value}."
    return POLICY[field][str(value).partition("(")[0]]
