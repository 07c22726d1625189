"""Whatever way a run comes in, on however many threads, the bits of all values are the same."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest
import rankscope

from tests.invariance import corpus
from tests.invariance.variants import VARIANTS, choose_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.evaluation.evaluation import Evaluation

ROOT = Path(__file__).resolve().parents[2]
# A gain or discount by function is the same kernel as one by table, which is among them too.
MEASURES = [variant for variant in VARIANTS if "<" not in variant.name]
# No kernel sees which way a run came: pairs of parameters stand for all combinations of them.
SOME = choose_pairs(MEASURES)


@dataclass(frozen=True, slots=True)
class Material:
    """A corpus in every form, and what is found for it."""

    corpus: corpus.Corpus
    qrels: Path
    run: Path
    found: Evaluation


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    made = corpus.make()
    folder = tmp_path_factory.mktemp("corpus")
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_bytes(made.qrels_text())
    run.write_bytes(made.run_text())
    return Material(made, qrels, run, rankscope.evaluate(qrels, run, MEASURES, threads=1))


def test_the_run_is_large_enough_to_be_shared_out(material: Material) -> None:
    assert material.run.stat().st_size > 8 * corpus.BLOCK
    assert len(material.corpus.rows) > corpus.SHARED_ROWS
    counts = material.found.counts
    assert min(counts.missing, counts.run_only, counts.empty, counts.tied) > 10


def same(material: Material, other: Evaluation) -> bool:
    difference = corpus.first_difference(material.found, other)
    assert difference is None, difference
    return True


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 7])
def test_a_file_is_the_same_on_any_number_of_threads(material: Material, threads: int) -> None:
    again = rankscope.evaluate(material.qrels, material.run, MEASURES, threads=threads)
    assert same(material, again)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_in_memory_are_the_same_on_any_number_of_threads(
    material: Material, threads: int
) -> None:
    made = material.corpus
    assert same(material, rankscope.evaluate(made.judgments, made.rows, SOME, threads=threads))


@pytest.mark.parametrize("threads", [1, 7])
def test_a_file_whose_queries_come_back_is_the_same(
    material: Material, tmp_path: Path, threads: int
) -> None:
    lines = material.run.read_bytes().splitlines(keepends=True)
    run = tmp_path / "interleaved"
    run.write_bytes(b"".join(lines[0::2] + lines[1::2]))
    again = rankscope.evaluate(material.qrels, run, SOME, threads=threads)
    assert same(material, again)


def test_gzip_is_the_same(material: Material, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.gz", tmp_path / "run.gz"
    qrels.write_bytes(gzip.compress(material.qrels.read_bytes(), 1))
    run.write_bytes(gzip.compress(material.run.read_bytes(), 1))
    assert same(material, rankscope.evaluate(qrels, run, SOME))


@pytest.mark.slow
def test_standard_input_is_the_same(material: Material) -> None:
    program = (
        "import sys, rankscope\n"
        "from tests.invariance import corpus\n"
        "from tests.invariance.test_ways_in import SOME\n"
        "print(corpus.bits(rankscope.evaluate(sys.argv[1], '-', SOME)))"
    )
    with material.run.open("rb") as run:
        printed = subprocess.run(
            [sys.executable, "-c", program, material.qrels],
            stdin=run,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert printed.strip() == corpus.bits(rankscope.evaluate(material.qrels, material.run, SOME))


FORMS = ("files", "rows", "frames", "rows of a frame", "dicts", "bytes")


def forms(material: Material) -> Mapping[str, tuple[object, object]]:
    made = material.corpus
    judged, retrieved = (
        pd.DataFrame(rows, columns=["query_id", "doc_id", name])
        for rows, name in ((made.judgments, "relevance"), (made.rows, "score"))
    )
    return {
        "files": (material.qrels, material.run),
        "rows": (made.judgments, made.rows),
        "frames": (judged, pl.from_pandas(retrieved)),
        "rows of a frame": (judged, made.rows),
        "dicts": (corpus.nested(made.judgments), corpus.nested(made.rows)),
        "bytes": (material.qrels.read_bytes(), material.run.read_bytes()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_streamed_and_held(material: Material, form: str) -> None:
    qrels, run = forms(material)[form]
    assert same(material, rankscope.evaluate(qrels, run, SOME))  # type: ignore[arg-type]
    rankings = rankscope.Rankings.from_run(qrels, run)  # type: ignore[arg-type]  # one of the forms
    assert same(material, rankings.evaluate(SOME))


@pytest.mark.parametrize("ties", ["doc_id", "doc_id_asc", "input", "best", "worst"])
@pytest.mark.parametrize("form", FORMS)
def test_every_tie_policy_is_the_same_by_every_way(
    material: Material, ties: str, form: str
) -> None:
    measures = ["nDCG", "nDCG@10", "AP", "RR", "Bpref", "infAP", "ERR@20", "RBP", "P@5"]
    policy = rankscope.Policy(ties=ties)  # type: ignore[arg-type]  # one of its values
    expected = rankscope.evaluate(material.qrels, material.run, measures, policy=policy)
    qrels, run = forms(material)[form]
    streamed = rankscope.evaluate(qrels, run, measures, policy=policy)  # type: ignore[arg-type]
    held = rankscope.Rankings.from_run(qrels, run, ties=policy.ties)  # type: ignore[arg-type]
    assert corpus.first_difference(expected, streamed) is None
    assert corpus.first_difference(expected, held.evaluate(measures)) is None


def test_the_order_of_rows_does_not_matter(material: Material) -> None:
    random = Random(0)
    made = material.corpus
    rows = random.sample(made.rows, len(made.rows))
    order = {query: number for number, query in enumerate(material.found.query_ids)}
    judgments = random.sample(made.judgments, len(made.judgments))
    judgments.sort(key=lambda row: order[row[0]])  # values are listed by first-seen query
    assert same(material, rankscope.evaluate(judgments, rows, SOME))


def test_the_order_of_judged_queries_changes_only_the_order_of_values(material: Material) -> None:
    made = material.corpus
    judgments = Random(1).sample(made.judgments, len(made.judgments))
    again = rankscope.evaluate(judgments, made.rows, SOME)
    assert again.query_ids != material.found.query_ids
    assert again.counts == material.found.counts
    for measure in SOME:
        assert again[measure].hex() == material.found[measure].hex(), measure
    some = SOME[::20]
    expected = rankscope.evaluate(material.qrels, material.run, some).to_dict()
    assert rankscope.evaluate(judgments, made.rows, some).to_dict() == expected


def test_a_batch_is_its_queries_one_by_one(material: Material) -> None:
    qrels = corpus.nested(material.corpus.judgments)
    run = corpus.nested(material.corpus.rows)
    both = [query for query in qrels if query in run][:20]
    index = {query: number for number, query in enumerate(material.found.query_ids)}
    batch = {measure: material.found.per_query_list(measure) for measure in SOME}
    for query in both:
        alone = rankscope.evaluate({query: qrels[query]}, {query: run[query]}, SOME)
        for measure in SOME:
            (one,) = alone.per_query_list(measure)
            assert repr(one) == repr(batch[measure][index[query]]), (query, measure)


def test_other_ids_in_the_same_order_change_nothing(material: Material) -> None:
    made = material.corpus

    def renamed(rows: list[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
        return [(f"{query} é", f"\U0001f50d{document}", number) for query, document, number in rows]

    again = rankscope.evaluate(renamed(made.judgments), renamed(made.rows), SOME)
    assert same(material, again)
