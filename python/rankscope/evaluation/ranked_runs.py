"""Read several runs, and rank them against the same judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankscope.engine.judgments import load_qrels_for
from rankscope.engine.progress import follow
from rankscope.engine.requests import read_request
from rankscope.errors import UsageError
from rankscope.evaluation.evaluate import name_runs
from rankscope.evaluation.evaluation import Evaluation
from rankscope.evaluation.rankings import Rankings, rank_run
from rankscope.inputs.objects import refuse_splits
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.inputs.qrels import Qrels
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Runs: TypeAlias = Mapping[str, InputLike] | Sequence[InputLike]


def read_runs(given: object) -> dict[str, InputLike]:
    """Return runs by name."""
    refuse_splits(given, "runs")
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
    reading: Reading,
    *,
    policy: Policy | str | None,
    convention: Convention | str | None,
    progress: bool = False,
) -> dict[str, Rankings]:
    """Read judgments and runs, and rank them."""
    request = read_request(
        measures, policy, convention=convention, score_type=reading.score_type, grades=[]
    )
    qrels = load_qrels_for(qrels, runs.values(), measures, reading)
    of_runs = replace(reading, score_type=request.score_type)
    return {
        name: rank_run(Rankings, qrels, run, request.ties, of_runs)
        for name, run in follow(runs.items(), "reading runs", is_shown=progress)
    }
