"""The runs of a leaderboard: evaluated here, or results of `evaluate`."""

from __future__ import annotations

import os

from rankscope._compare.compute import name_anew
from rankscope._evaluate.evaluate import evaluate
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.question import holds
from rankscope._evaluate.ranked_runs import is_column
from rankscope._inputs.recognition import name_path
from rankscope.errors import FileError, UsageError
from rankscope.file import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNTESTED = {
    "weights": "the tests of a leaderboard count each query once",
    "interval": "a leaderboard has no intervals",
}
"""Settings of `evaluate` that a leaderboard doesn't have, and why."""
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")


def evaluate_runs(
    judgments: object,
    runs: object,
    measures: object,
    settings: Mapping[str, object],
    *,
    names: Sequence[str] | None,
    threads: int | None,
) -> tuple[dict[str, Evaluation], object]:
    """Return the results of all runs by name, and the measures to show, `None` for all."""
    for name, why in UNTESTED.items():
        if settings.get(name) is not None:
            raise UsageError(
                f"{why}, found {name}=",
                hint=f"remove {name}=; evaluate(judgments, runs, measures, {name}=…) has it",
                code="bad_parameter",
            )
    if isinstance(judgments, Evaluation):
        raise UsageError(
            "expected the results of several runs, found that of one",
            hint="name it: leaderboard({'bm25': evaluation})",
            code="bad_parameter",
        )
    if holds(judgments, Evaluation):
        if settings:
            raise UsageError(
                f"results of evaluate have their values already, found {min(settings)}=",
                hint="pass it to evaluate instead",
                code="bad_parameter",
            )
        found = name_anew(dict(judgments), names)
        _check_alike(found)
        return found, runs if measures is None else measures
    of_table = {name: settings.get(name) for name in ("scores", "runs")}
    if is_column(judgments, runs):
        of_table["runs"] = str(runs)
    if any(value is not None for value in of_table.values()):
        wanted = measures if of_table["runs"] == runs or runs is None else runs
        wanted = DEFAULT_MEASURES if wanted is None else wanted
        made = evaluate(judgments, wanted, threads=threads, **{**settings, **of_table})  # type: ignore[call-overload]  # what else it can be
        return name_anew(dict(made), names), None
    if runs is None:
        raise UsageError(
            "expected judgments and runs, found no runs",
            hint="write leaderboard(judgments, {'bm25': run_a, 'dense': run_b}, 'nDCG@10')",
            code="no_run",
        )
    wanted = DEFAULT_MEASURES if measures is None else measures
    made = evaluate(judgments, list_runs(runs), wanted, threads=threads, **settings)  # type: ignore[call-overload]  # what else it can be
    evaluated = dict(made) if isinstance(made, Evaluations) else {"run": made}
    return name_anew(evaluated, names), None


def _check_alike(evaluations: Mapping[str, Evaluation]) -> None:
    first = next(iter(evaluations.values()))
    for name, each in evaluations.items():
        if each.query_texts != first.query_texts or each.policy != first.policy:
            raise UsageError(
                f"the result {name!r} has other queries or another policy than the first",
                hint="evaluate all runs with the same judgments and policy",
                code="bad_parameter",
            )


def list_runs(given: object) -> object:
    """Return the files of a folder or a pattern, one run each, and other runs as they are."""
    if isinstance(given, File) and isinstance(given.path, str | os.PathLike):
        return {name_path(os.fsdecode(given.path), "run"): given}
    if not isinstance(given, str | os.PathLike):
        return given
    path = os.fsdecode(given)
    if os.path.isdir(path):  # noqa: PTH112 - pathlib loads slowly
        paths = [each.path for each in os.scandir(path) if each.is_file() and each.name[0] != "."]
    elif any(sign in path for sign in "*?[") and not os.path.exists(path):  # noqa: PTH110 - as above
        from glob import glob  # noqa: PLC0415 - few need it

        paths = glob(path)  # noqa: PTH207 - as above
    else:
        return {name_path(path, "run"): path}
    if not paths:
        raise FileError(
            "expected the files of runs, found none",
            hint="name a folder of runs, or a pattern such as 'runs/*.run'",
            code="io",
            file=path,
        )
    return sorted(paths)
