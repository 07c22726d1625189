"""Log results to MLflow, and score retrieval in `mlflow.genai.evaluate`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import rankscope as rs
from rankscope.integrations._frames import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def log_result(
    result: rs.Evaluation | rs.Evaluations | rs.Comparison,
    *,
    prefix: str = "",
    step: int | None = None,
    report: rs.Report | None = None,
    tables: bool = True,
    figures: bool = True,
) -> None:
    """Log a result to the active run of MLflow, or to a new one if none is active.

    - Metrics are named like `ndcg_at_10`, with `_lower` and `_upper` if the result has intervals.
      Those of several runs begin with the run (`bm25/ndcg_at_10`); those of a comparison, with
      both runs (`dense vs bm25/ndcg_at_10_difference`).
    - Tables, figures and the report are artifacts in the folder `rankscope`. Tables can be read
      with `mlflow.load_table`.
    - The policy, the convention and the version of rankscope are tags.

    Args:
        result: The result of `evaluate`, of `compare`, or of one of their variants.
        prefix: Text before the names of metrics, tags and artifacts, such as `valid/`.
        step: The step of the metrics, which is also in the names of artifacts.
        report: The result of `rankscope.report`, which is logged as an HTML page.
        tables: Whether to log the values of queries, slices and comparisons.
        figures: Whether to log plots; which there are depends on the result. They need Matplotlib.

    Raises:
        UsageError: MLflow is not installed, the result is something else, or two names of runs
            differ only in characters that MLflow doesn't allow.

    Examples:
        >>> import mlflow  # doctest: +SKIP
        >>> with mlflow.start_run():  # doctest: +SKIP
        ...     log_result(rs.evaluate(qrels, run, ["nDCG@10", "AP"], interval=0.95))
    """
    mlflow = require("mlflow")
    entries = _gather(result)
    mlflow.set_tags({f"{prefix}rankscope.{name}": text for name, text in entries.tags.items()})
    mlflow.log_metrics({prefix + name: value for name, value in entries.metrics.items()}, step=step)
    folder = f"rankscope/{prefix}"
    ending = "" if step is None else f"-{step}"
    if tables:
        for name, columns in entries.tables.items():
            _log_table(mlflow, columns, f"{folder}{name}{ending}.json")
        for name, text in entries.texts.items():
            mlflow.log_text(text, f"{folder}{name}{ending}.txt")
    if report is not None:
        mlflow.log_text(report.to_html(), f"{folder}report{ending}.html")
    if figures:
        for name, axes in _draw(result):
            mlflow.log_figure(axes.figure, f"{folder}{name}{ending}.png")


def make_scorer(
    measure: rs.Measure | str,
    *,
    expectation: str = "relevant",
    policy: rs.Policy | str | None = None,
    name: str | None = None,
) -> Any:
    """Return a scorer for `mlflow.genai.evaluate` that values the ranked list of each question.

    The outputs of a row are the ranked document or chunk ids, best first, or a mapping of id to
    score. Its expectations name the relevant ones.

    Args:
        measure: The measure, or its name.
        expectation: The key in the expectations: a list of relevant ids, or a mapping of id to
            grade.
        policy: As in `rankscope.evaluate`.
        name: The name of the scorer (default: the plain name of the measure, `ndcg_at_10`).

    Raises:
        UsageError: MLflow is not installed.
        MeasureError: The measure doesn't exist.

    Examples:
        >>> rows = [  # doctest: +SKIP
        ...     {
        ...         "inputs": {"question": "How do I reset my password?"},
        ...         "outputs": ["chunk-7", "chunk-2"],
        ...         "expectations": {"relevant": ["chunk-2"]},
        ...     }
        ... ]
        >>> mlflow.genai.evaluate(data=rows, scorers=[make_scorer("nDCG@10")])  # doctest: +SKIP
    """
    scorers = require("mlflow.genai.scorers")
    measure = rs.parse(measure)

    def value(outputs: Any, expectations: Any) -> float:
        if expectation not in (expectations or {}):
            problem = f"the row has no expectation {expectation!r}"
            hint = 'add "expectations": {"relevant": [...]}, or set expectation='
            raise rs.UsageError(problem, hint=hint, code="bad_parameter")
        if not isinstance(outputs, Mapping | list | tuple):  # a text would be the path of a run
            problem = f"expected ranked ids as the outputs of a row, found {type(outputs).__name__}"
            hint = "return a list of ids, best first, or a mapping of id to score"
            raise rs.UsageError(problem, hint=hint, code="bad_parameter")
        # A question without relevant documents is not unjudged: the policy has a value for it.
        judged = expectations[expectation] or {"no relevant document": 0}
        ranked: dict[str, Any] = {"q": outputs}
        return float(rs.evaluate({"q": judged}, ranked, measure, policy=policy)[measure])

    return scorers.scorer(value, name=name or measure.plain_name)


class _Entries:
    """What of a result is logged: numbers, tables, texts and tags, by name."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.tables: dict[str, Mapping[str, Sequence[object]]] = {}
        self.texts: dict[str, str] = {}
        self.tags: dict[str, str] = {"version": rs.__version__}

    def add_evaluation(self, result: rs.Evaluation, run: str = "") -> None:
        """Add the means of a run, its queries and its slices."""
        for measure in result.measures:
            name = run + measure.plain_name
            self.metrics[name] = result[measure]
            ends = result.intervals.get(measure.name, ())
            for end, value in zip(("lower", "upper"), ends, strict=False):
                self._add_number(f"{name}_{end}", value)
        self.metrics[f"{run}queries"] = result.counts.queries
        self.tables[f"{run}queries"] = result.to_arrow(names="plain").to_pydict()
        if result.slices is not None:
            self.tables[f"{run}slices"] = result.slices.to_arrow().to_pydict()
        self.tags["policy"] = str(result.policy)
        if result.convention is not None:
            self.tags["convention"] = result.convention.address

    def add_comparison(self, result: rs.Comparison) -> None:
        """Add the means of runs, the differences over all queries, and the table of all."""
        for run, means in result.means.items():
            for measure, mean in means.items():
                self.metrics[f"{_clean(run)}/{_plain(measure)}"] = mean
        for row in result:
            if row.slice is None:
                pair = f"{_clean(row.run)} vs {_clean(row.baseline)}/{_plain(row.measure)}"
                for name in ("difference", "lower", "upper", "p_corrected"):
                    self._add_number(f"{pair}_{name}", getattr(row, name))
        self.tables["comparison"] = result.to_arrow().to_pydict()
        self.texts["comparison"] = str(result)
        if result.policy is not None:
            self.tags["policy"] = str(result.policy)

    def _add_number(self, name: str, value: float) -> None:
        if not math.isnan(value):  # such as the end of an interval that there isn't
            self.metrics[name] = value


def _gather(result: object) -> _Entries:
    """Return what is logged of a result.

    Raises:
        UsageError: It is none of the results that can be logged.
    """
    entries = _Entries()
    if isinstance(result, rs.Evaluation):
        entries.add_evaluation(result)
    elif isinstance(result, rs.Evaluations):
        _check_names(result)
        for run, evaluation in result.items():
            entries.add_evaluation(evaluation, f"{_clean(run)}/")
    elif isinstance(result, rs.Comparison):
        _check_names(result.runs)
        entries.add_comparison(result)
    else:
        raise rs.UsageError(
            f"expected an Evaluation, Evaluations or a Comparison, found {type(result).__name__}",
            hint="pass the result of evaluate or compare, and a report as report=",
            code="bad_parameter",
        )
    return entries


def _draw(result: rs.Evaluation | rs.Evaluations | rs.Comparison) -> Iterator[tuple[str, Axes]]:
    """Yield the plots that a result has data for, by the names of their files."""
    from rankscope import plots

    if isinstance(result, rs.Comparison):
        for name in result.measures:
            yield f"differences_{_plain(name)}", plots.draw_forest(result, name)
        return
    runs = {"this run": result} if isinstance(result, rs.Evaluation) else {**result}
    measures = next(iter(runs.values())).measures
    for measure in dict.fromkeys(m(k=None) for m in measures if m.k is not None):
        with suppress(rs.errors.MeasureError):  # it has a single cutoff
            yield f"cutoffs_{measure.plain_name}", plots.draw_cutoffs(runs, measure)
    if len(runs) == 2:
        for measure in measures:
            with suppress(rs.errors.MeasureError):  # it has one value for all queries together
                yield f"queries_{measure.plain_name}", plots.draw_scatter(runs, measure)


def _log_table(mlflow: Any, columns: Mapping[str, Sequence[object]], path: str) -> None:
    """Log a table in place of one with the same name, which MLflow would extend."""
    columns = {name: [*map(_write_cell, cells)] for name, cells in columns.items()}
    rows = [*map(list, zip(*columns.values(), strict=True))]
    where = {"run_id": mlflow.active_run().info.run_id, "artifact_path": path.rpartition("/")[0]}
    if path in [artifact.path for artifact in mlflow.artifacts.list_artifacts(**where)]:
        table = {"columns": [*columns], "index": [*range(len(rows))], "data": rows}
        mlflow.log_dict(table, path)
    else:
        mlflow.log_table(columns, path)


def _write_cell(cell: object) -> object:
    """Return a cell as JSON has it: dates and UUIDs are texts, and NaN is null."""
    if cell is None or isinstance(cell, str | int):
        return cell
    return str(cell) if not isinstance(cell, float) else None if math.isnan(cell) else cell


def _check_names(runs: Iterable[str]) -> None:
    cleaned: dict[str, str] = {}
    for run in runs:
        other = cleaned.setdefault(_clean(run), run)
        if other != run:
            raise rs.UsageError(
                f"the runs {other!r} and {run!r} have the same name in MLflow: {_clean(run)!r}",
                hint="MLflow allows letters, digits and _ - . / : only, so rename one",
                code="bad_parameter",
            )


def _clean(run: str) -> str:
    """Return the name of a run with only characters that MLflow allows in names of metrics."""
    return re.sub(r"[^\w.\- ]", "_", run)


def _plain(measure: str) -> str:
    """Return the plain name of a measure, which in a comparison of values can be any text."""
    try:
        return rs.parse(measure).plain_name
    except rs.errors.MeasureError:
        return _clean(measure)
