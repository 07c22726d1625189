"""Whatever way runs and samples come in, on however many threads, values are the same bits."""

from __future__ import annotations

import gzip
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import EED, EEL, EER, Policy
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance import corpus
from tests.invariance.variants import VARIANTS, choose_pairs, variants
from tests.reference import Query
from tests.reference.expected_exposure import of_samples

if TYPE_CHECKING:
    from rankscope._evaluate.evaluation import Evaluation


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
def material(tmp_path_factory):
    made = corpus.make()
    folder = tmp_path_factory.mktemp("corpus")
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_bytes(made.qrels_text())
    run.write_bytes(made.run_text())
    return Material(made, qrels, run, rs.evaluate(qrels, run, MEASURES, threads=1))


def test_the_run_is_large_enough_to_be_shared_out(material):
    assert material.run.stat().st_size > 8 * corpus.BLOCK
    assert len(material.corpus.rows) > corpus.SHARED_ROWS
    counts = material.found.counts
    assert min(counts.missing, counts.run_only, counts.empty, counts.tied) > 10


def same(material, other):
    difference = corpus.first_difference(material.found, other)
    assert difference is None, difference
    return True


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 7])
def test_a_file_is_the_same_on_any_number_of_threads(material, threads):
    again = rs.evaluate(material.qrels, material.run, MEASURES, threads=threads)
    assert same(material, again)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_in_memory_are_the_same_on_any_number_of_threads(material, threads):
    made = material.corpus
    assert same(material, rs.evaluate(made.judgments, made.rows, SOME, threads=threads))


@pytest.mark.parametrize("threads", [1, 7])
def test_a_file_whose_queries_come_back_is_the_same(material, tmp_path, threads):
    lines = material.run.read_bytes().splitlines(keepends=True)
    run = tmp_path / "interleaved"
    run.write_bytes(b"".join(lines[0::2] + lines[1::2]))
    again = rs.evaluate(material.qrels, run, SOME, threads=threads)
    assert same(material, again)


def test_gzip_is_the_same(material, tmp_path):
    qrels, run = tmp_path / "qrels.gz", tmp_path / "run.gz"
    qrels.write_bytes(gzip.compress(material.qrels.read_bytes(), 1))
    run.write_bytes(gzip.compress(material.run.read_bytes(), 1))
    assert same(material, rs.evaluate(qrels, run, SOME))


@pytest.mark.slow
def test_standard_input_is_the_same(material):
    program = (
        "import sys, rankscope as rs\n"
        "from tests.invariance import corpus\n"
        "from tests.invariance.test_ways_in import SOME\n"
        "print(corpus.bits(rs.evaluate(sys.argv[1], '-', SOME)))"
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
    assert printed.strip() == corpus.bits(rs.evaluate(material.qrels, material.run, SOME))


FORMS = ("files", "rows", "frames", "rows of a frame", "dicts", "bytes")


def forms(material):
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
def test_every_form_is_the_same_streamed_and_held(material, form):
    qrels, run = forms(material)[form]
    assert same(material, rs.evaluate(qrels, run, SOME))
    rankings = rs.Rankings.from_run(qrels, run)
    assert same(material, rankings.evaluate(SOME))


@pytest.mark.parametrize("ties", ["doc_id", "doc_id_asc", "input", "best", "worst"])
@pytest.mark.parametrize("form", FORMS)
def test_every_tie_policy_is_the_same_by_every_way(material, ties, form):
    measures = ["nDCG", "nDCG@10", "AP", "RR", "Bpref", "infAP", "ERR@20", "RBP", "P@5"]
    policy = rs.Policy(ties=ties)
    expected = rs.evaluate(material.qrels, material.run, measures, policy=policy)
    qrels, run = forms(material)[form]
    streamed = rs.evaluate(qrels, run, measures, policy=policy)
    held = rs.Rankings.from_run(qrels, run, ties=policy.ties)
    assert corpus.first_difference(expected, streamed) is None
    assert corpus.first_difference(expected, held.evaluate(measures)) is None


def test_the_order_of_rows_does_not_matter(material):
    random = Random(0)
    made = material.corpus
    rows = random.sample(made.rows, len(made.rows))
    order = {query: number for number, query in enumerate(material.found.query_ids)}
    judgments = random.sample(made.judgments, len(made.judgments))
    judgments.sort(key=lambda row: order[row[0]])  # values are listed by first-seen query
    assert same(material, rs.evaluate(judgments, rows, SOME))


def test_the_order_of_judged_queries_changes_only_the_order_of_values(material):
    made = material.corpus
    judgments = Random(1).sample(made.judgments, len(made.judgments))
    again = rs.evaluate(judgments, made.rows, SOME)
    assert again.query_ids != material.found.query_ids
    assert again.counts == material.found.counts
    for measure in SOME:
        assert again[measure].hex() == material.found[measure].hex(), measure
    some = SOME[::20]
    expected = rs.evaluate(material.qrels, material.run, some).to_dict()
    assert rs.evaluate(judgments, made.rows, some).to_dict() == expected


def test_a_batch_is_its_queries_one_by_one(material):
    qrels = corpus.nested(material.corpus.judgments)
    run = corpus.nested(material.corpus.rows)
    both = [query for query in qrels if query in run][:20]
    index = {query: number for number, query in enumerate(material.found.query_ids)}
    batch = {measure: material.found.per_query_list(measure) for measure in SOME}
    for query in both:
        alone = rs.evaluate({query: qrels[query]}, {query: run[query]}, SOME)
        for measure in SOME:
            (one,) = alone.per_query_list(measure)
            assert repr(one) == repr(batch[measure][index[query]]), (query, measure)


def test_other_ids_in_the_same_order_change_nothing(material):
    made = material.corpus

    def renamed(rows):
        return [(f"{query} é", f"\U0001f50d{document}", number) for query, document, number in rows]

    again = rs.evaluate(renamed(made.judgments), renamed(made.rows), SOME)
    assert same(material, again)


EXPOSURES = [one for name in ("EEL", "EED", "EER") for one in variants(TABLE[name])]
DOCUMENTS = ["a", "b", "c", "d", "é"]
MODELS = ("rbp", "gerr", "dcg")


judgments = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "unseen", "unseen too"]),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]),
    min_size=1,
)
lists = st.lists(
    st.lists(st.sampled_from([*DOCUMENTS, "new"]), min_size=1, unique=True),
    min_size=1,
    max_size=4,
)


def as_runs(samples):
    return [{"q": documents} for documents in samples]


@given(grades=judgments, samples=lists)
@examples(40)
def test_exposure_is_that_of_the_definition(grades, samples):
    found = rs.evaluate_samples({"q": grades}, as_runs(samples), EXPOSURES, policy="empty=nan")
    queries = [
        Query([grades.get(document) for document in one], [*grades.values()], documents=one)
        for one in samples
    ]
    for measure in EXPOSURES:
        kernel, params = measure.kernel_spec()
        expected = of_samples(kernel, queries, **params)
        assert repr(found[measure]) == repr(expected), measure


@given(grades=judgments, samples=lists)
@examples(20)
def test_the_order_of_the_rankings_does_not_matter(grades, samples):
    one, other = (
        rs.evaluate_samples({"q": grades}, as_runs(each), EXPOSURES, policy="empty=nan")
        for each in (samples, samples[::-1])
    )
    assert repr(dict(one)) == repr(dict(other))


@given(grades=judgments, documents=lists)
@examples(20)
def test_one_ranking_is_evaluated_as_a_run(grades, documents):
    run = {"q": documents[0]}
    measures = [*EXPOSURES, "nDCG@3", "AP", "Judged@2"]
    expected = rs.evaluate({"q": grades}, run, measures, policy="empty=nan")
    for runs in ([run], [run, run]):
        found = rs.evaluate_samples({"q": grades}, runs, measures, policy="empty=nan")
        if len(runs) == 1:
            assert repr(dict(found)) == repr(dict(expected))
            assert found.counts == expected.counts
        assert list(found.values()) == pytest.approx(list(expected.values()), nan_ok=True)


@pytest.mark.parametrize("model", MODELS)
def test_all_orders_of_relevant_documents_reproduce_the_target(model):
    qrels = {"q": {"a": 2, "b": 1, "c": 1, "d": 0}}
    runs = as_runs([["a", "b", "c"], ["a", "c", "b"]])
    found = rs.evaluate_samples(qrels, runs, [EEL(model=model), EEL(model=model) @ 2])
    assert list(found.values()) == [0.0, 0.0]
    alone = rs.evaluate_samples(qrels, runs[:1], EEL(model=model))
    assert alone[EEL(model=model)] > 0


@pytest.mark.parametrize("model", MODELS)
def test_loss_is_disparity_less_twice_relevance_and_what_the_target_has(model):
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    runs = as_runs([["c", "a", "x"], ["a", "b"]])
    loss, disparity, relevance = (one(model=model) for one in (EEL, EED, EER))
    found = rs.evaluate_samples(qrels, runs, [loss, disparity, relevance])
    target = rs.evaluate_samples(qrels, as_runs([["a", "b"], ["b", "a"]]), disparity)
    assert found[loss] == pytest.approx(
        found[disparity] - 2 * found[relevance] + target[disparity], rel=1e-12
    )


def test_a_reranked_list_shares_what_is_left_among_the_others():
    qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    runs = as_runs([["a", "b", "c"], ["a", "c", "b"]])
    found = rs.evaluate_samples(qrels, runs, [EEL, EEL(complete=True)])
    assert found[EEL(complete=True)] == 0
    # Each of the others has (1/2 + 1/4) / 2.
    assert found[EEL] == 2 * 0.375**2


def test_other_measures_are_averaged_over_the_rankings():
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    runs = [{"q": ["a", "b"], "p": ["a"]}, {"q": ["b", "a"]}]
    found = rs.evaluate_samples(qrels, runs, "RR")
    assert found.per_query_list("RR") == [0.75, 1.0]
    assert [note.code for note in found.notes] == ["uneven_samples"]
    assert found.notes[0].count == 1


def test_values_do_not_depend_on_the_number_of_threads():
    queries = [f"q{n}" for n in range(3000)]
    rows = [(query, doc) for query in queries for doc in "abcdefgh"]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id"])
    qrels["relevance"] = [number * 7 % 5 % 3 for number in range(len(rows))]
    runs = []
    for seed in (3, 5, 11):
        run = pd.DataFrame(rows, columns=["query_id", "doc_id"])
        run["score"] = [number * seed % 13 for number in range(len(rows))]
        runs.append(run)
    names = ["EEL", "EED@3", "EER(model='gerr')", "nDCG@3"]
    one, three = (
        rs.evaluate_samples(qrels, runs, names, interval=0.95, threads=threads)
        for threads in (1, 3)
    )
    assert dict(one) == dict(three)
    assert one.to_dict() == three.to_dict()
    assert one.intervals == three.intervals


def test_rankers_are_compared_by_their_exposure():
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(10)}
    first = {query: ["a", "b"] for query in qrels}
    second = {query: ["b", "a"] for query in qrels}
    fixed = rs.evaluate_samples(qrels, [first, first], "EEL")
    mixed = rs.evaluate_samples(qrels, [first, second], "EEL")
    assert rs.compare({"fixed": fixed, "mixed": mixed}, "EEL")["EEL", "mixed"].better == ("mixed")


def test_what_is_no_sample_of_rankings_is_refused(tmp_path):
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(rs.UsageError, match="several runs in a list, found dict"):
        rs.evaluate_samples(qrels, run)
    table = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(rs.UsageError, match="several runs in a list, found DataFrame"):
        rs.evaluate_samples(qrels, table)
    with pytest.raises(rs.UsageError, match="found none"):
        rs.evaluate_samples(qrels, [])
    with pytest.raises(rs.errors.MeasureError, match="found Coverage"):
        rs.evaluate_samples(qrels, [run], "Coverage")
    with pytest.raises(rs.errors.PolicyError, match="all their documents, as EEL needs"):
        rs.evaluate_samples(qrels, [run], "EEL", policy=Policy(unjudged="remove"))
    with pytest.raises(rs.errors.FormatError, match="queries that are both judged"):
        rs.evaluate_samples(qrels, [{"other": ["a"]}])
    with pytest.raises(rs.FileError):
        rs.evaluate_samples(qrels, [tmp_path / "none.txt"])


def test_without_relevant_documents_exposure_is_undefined():
    found = rs.evaluate_samples({"q": {"a": 0}}, [{"q": ["a"]}], policy="empty=nan")
    assert all(math.isnan(value) for value in found.values())
    assert len(found) == 3
