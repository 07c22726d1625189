"""The evaluation programs of TREC, run beside their conventions on generated judgments and runs."""

from __future__ import annotations

import math
import shutil
import subprocess
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import ERR, nDCG

from tests.parity.cases import make
from tests.parity.peers import of_pytrec_eval
from tests.trec import write_qrels, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope import Evaluation

    from tests.parity.cases import Case

seeds = pytest.mark.parametrize("seed", range(3))
SHARED = {
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "map": "AP",
    "map_cut_5": "AP@5",
    "P_5": "P@5",
    "recall_10": "R@10",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "success_1": "Success@1",
    "set_F": "SetF",
    "bpref": "Bpref",
    "infAP": "infAP",
}


def values(evaluation: Evaluation, measure: str) -> dict[str, float]:
    """The value of each query that has one."""
    by_query = zip(evaluation.query_ids, evaluation.per_query_list(measure), strict=True)
    return {query: value for query, value in by_query if not math.isnan(value)}


@seeds
def test_values_are_those_of_trec_eval(seed: int) -> None:
    case = make(seed)
    theirs = of_pytrec_eval(case.qrels, case.run, SHARED)
    ours = rs.evaluate(case.qrels, case.run, [*SHARED.values()], convention="trec_eval@9.0.8")
    for name, measure in SHARED.items():
        assert values(ours, measure) == theirs[name]


def run_gdeval(case: Case, folder: Path) -> dict[str, tuple[float, float]]:
    """By query, nDCG@10 and ERR@10 as the program prints them, with five places."""
    perl = shutil.which("perl")
    if perl is None:
        pytest.skip("Perl is not installed")
    numbers = {query: str(number) for number, query in enumerate({**case.qrels, **case.run})}
    write_qrels(folder / "qrels", {numbers[query]: row for query, row in case.qrels.items()})
    write_run(folder / "run", {numbers[query]: row for query, row in case.run.items()})
    program = str(files("ir_measures") / "bin" / "gdeval.pl")
    done = subprocess.run(
        [perl, program, "qrels", "run", "10"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {number: query for query, number in numbers.items()}
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return {names[number]: (float(ndcg), float(err)) for _, number, ndcg, err in rows}


@seeds
def test_values_are_those_of_gdeval(seed: int, tmp_path: Path) -> None:
    case = make(seed)
    theirs = run_gdeval(case, tmp_path)
    ours = rs.evaluate(case.qrels, case.run, [nDCG @ 10, ERR @ 10], convention="gdeval")
    for place, measure in enumerate(("nDCG@10", "ERR@10")):
        rounded = {query: pair[place] for query, pair in theirs.items()}
        # It prints five places, and adds up in another order.
        assert values(ours, measure) == pytest.approx(rounded, abs=0.5e-5 + 1e-9)
