"""Read several runs, and rank them against the same judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankscope.engine.judgments import load_qrels_for
from rankscope.engine.progress import follow
from rankscope.engine.requests import read_request
from rankscope.errors import UsageError
from rankscope.evaluation.evaluate import name_runs
from rankscope.evaluation.evaluation import Evaluation
from rankscope.evaluation.rankings import Rankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.inputs.qrels import Qrels
    from rankscope.settings.policy import Duplicates, Policy, ScoreType
    from rankscope.typing import InputLike

    Runs: TypeAlias = Mapping[str, InputLike] | Sequence[InputLike]


def read_runs(given: object) -> dict[str, InputLike]:
    """Return runs by name."""
    if isinstance(given, Mapping):
        runs: dict[str, InputLike] = {str(name): run for name, run in given.items()}
    else:
        runs = name_runs(given)
    held: dict[str, object] = {**runs}
    for name, each in held.items():
        if isinstance(each, Rankings | Evaluation):
            kind = "an Evaluation" if isinstance(each, Evaluation) else "Rankings"
            raise UsageError(
                f"the run {name!r} is {kind}, which already has judgments",
                hint="pass the mapping without judgments: compare({'a': a, 'b': b}, 'nDCG@10')",
                code="bad_parameter",
            )
    if len(runs) < 2:
        raise UsageError(
            f"expected two or more runs to compare, found {len(runs)}",
            hint="write {'bm25': run_a, 'dense': run_b}",
            code="bad_parameter",
        )
    return runs


def rank_runs(
    qrels: InputLike | Qrels,
    runs: dict[str, InputLike],
    measures: Measures,
    *,
    policy: Policy | str | None,
    convention: Convention | str | None,
    columns: Mapping[str, str] | None,
    duplicates: Duplicates,
    score_type: ScoreType | None,
    encoding: Literal["utf-8", "latin-1"],
    progress: bool = False,
) -> dict[str, Rankings]:
    """Read judgments and runs, and rank them."""
    request = read_request(
        measures, policy, convention=convention, score_type=score_type, grades=[]
    )
    qrels = load_qrels_for(
        qrels, runs.values(), measures, columns=columns, duplicates=duplicates, encoding=encoding
    )
    return {
        name: Rankings.from_run(
            qrels,
            run,
            ties=request.ties,
            columns=columns,
            duplicates=duplicates,
            score_type=request.score_type,
            encoding=encoding,
        )
        for name, run in follow(runs.items(), "reading runs", is_shown=progress)
    }
