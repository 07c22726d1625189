"""What is asked for is computed, alone or beside others, or refused in words."""

from __future__ import annotations

import math
from importlib.metadata import version

import pytest
import rankscope as rs
from rankscope import AP, DCG, ERR, IDCG, RBP, RR, Bpref, Judged, P, Rankings, RBPResidual, nDCG
from rankscope.errors import UsageError
from scipy.stats import tukey_hsd

QRELS = {"q": {"a": 1, "b": 2, "c": 3}}
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
TABLES = [{0: 0, 1: 2, 2: 1, 3: 5}, {0: 0, 1: -1, 2: 0.5, 3: 1}, {0: -1, 1: 1, 2: 2, 3: 3}]


def test_measures_with_tables_of_their_own_stand_beside_each_other(means):
    measures = [kind(gain=gains) for kind in (nDCG, DCG, IDCG) for gains in TABLES]
    policy = "ties=doc_id,negative=gain"
    together = means(QRELS, RUN, measures, policy)
    for measure in measures:
        assert means(QRELS, RUN, [measure], policy) == {str(measure): together[str(measure)]}
    gains = TABLES[0]
    assert together[str(DCG(gain=gains))] == pytest.approx(
        sum(gains[rank] / math.log2(rank + 1) for rank in (1, 2, 3)), abs=1e-15
    )


@pytest.mark.parametrize("judged_only", [False, True])
def test_rows_that_come_once_serve_every_measure(*, judged_only):
    def rows(of):
        return ((query, doc, number) for query, docs in of.items() for doc, number in docs.items())

    policy = "unjudged=remove" if judged_only else "unjudged=nonrelevant"
    run = {"q": {"z": 4.0, "a": 3.0, "b": 2.0}}
    measures = [RBP(p=0.5), RBP(p=0.8), nDCG @ 2, nDCG @ 3, nDCG(gain="exp2") @ 2, AP, RR]
    found = rs.evaluate(rows(QRELS), rows(run), measures, policy=policy)
    assert dict(found) == {
        str(measure): rs.evaluate(QRELS, run, measure, policy=policy)[measure]
        for measure in measures
    }
    first = 1 if judged_only else 2
    assert found[RR] == 1 / first
    halves = 0.5 * (0.5 ** (first - 1) + 0.5**first)
    assert found[RBP(p=0.5)] == pytest.approx(halves, abs=1e-15)


def test_measures_need_no_cutoff_and_queries_no_number(means):
    qrels = {"one query": {"a": 1, "b": 2}, "é": {"a": 1, "b": 2}}
    run = {"one query": {"a": 2.0, "b": 1.0}, "é": {"a": 2.0, "b": 1.0}}
    names = ["RBP", "RBP@10", "ERR", "ERR@10", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@10"]
    found = rs.evaluate(qrels, run, names)
    stops = [1 / 16, 3 / 16]
    assert found[RBP] == found["RBP@10"] == pytest.approx(0.2 * (1 + 0.8), abs=1e-15)
    assert found[ERR] == found["ERR@10"] == stops[0] + (1 - stops[0]) * stops[1] / 2
    ndcg = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert found[nDCG(gain="exp2")] == found[nDCG(gain="exp2") @ 10] == ndcg
    texts = {query.replace(" ", "_"): docs for query, docs in qrels.items()}
    lists = {query.replace(" ", "_"): docs for query, docs in run.items()}
    assert means(texts, lists, names) == dict(found)


def test_the_share_of_judged_documents_of_an_empty_list_is_0():
    found = rs.evaluate({"q": {"a": 1}}, {"q": {}}, [Judged @ 10, RBP, nDCG @ 10, P @ 10])
    assert set(found.values()) == {0.0}


def test_lists_without_documents_are_evaluated(means):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    measures = [nDCG, AP, RR, P @ 5, Bpref, RBP, ERR, Judged @ 5]
    found = means(qrels, {"q1": {}, "q2": {"a": 1.0}}, measures)
    alone = means({"q2": {"a": 1}}, {"q2": {"a": 1.0}}, measures)
    assert found == {name: value / 2 for name, value in alone.items()}


def test_bpref_is_a_number_where_nothing_is_judged_not_relevant(means):
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "n": 0}}
    run = {"q1": {"a": 2.0, "z": 1.0}, "q2": {"n": 2.0, "a": 1.0}}
    assert means(qrels, run, [Bpref]) == {"Bpref": (1 / 2 + 0) / 2}


def test_graded_rbp_is_scaled_to_the_top_of_the_scale_and_never_above_1(means):
    graded = RBP(p=0.9, graded=True, max_grade=3)
    expected = 0.1 * (1 / 3 + 0.9 * 2 / 3 + 0.81 * 3 / 3)
    binary = 0.1 * (1 + 0.9 + 0.81)
    assert [round(value, 4) for value in (expected, binary)] == [0.1743, 0.2710]
    for _ in range(3):
        found = means(QRELS, RUN, [graded, RBP(p=0.9)])
        assert list(found.values()) == pytest.approx([expected, binary], abs=1e-15)
    perfect = {f"d{number:03}": 3 for number in range(200)}
    best = means({"q": perfect}, {"q": dict.fromkeys(perfect, 1.0)}, [graded])
    assert 0.999 < best[str(graded)] <= 1


def test_the_residual_of_rbp_keeps_the_tail_where_all_is_judged(means):
    for p in (0.5, 0.8, 0.9):
        found = means(QRELS, RUN, [RBPResidual(p=p)])
        assert list(found.values()) == [pytest.approx(p**3, abs=1e-15)]
    unjudged = means({"q": {"a": 1}}, {"q": {"a": 2.0, "z": 1.0}}, [RBPResidual(p=0.5)])
    assert list(unjudged.values()) == [pytest.approx(0.5**2 + 0.5 * 0.5, abs=1e-15)]


def test_grades_are_not_cut_to_integers(means):
    qrels = {"q": {"a": 0.9, "b": 1.9}}
    found = means(qrels, {"q": {"a": 2.0, "b": 1.0}}, [nDCG, DCG])
    dcg, ideal = 0.9 + 1.9 / math.log2(3), 1.9 + 0.9 / math.log2(3)
    assert found == {"nDCG": dcg / ideal, "DCG": dcg}


def test_ids_that_no_float_tells_apart_are_different_documents(means):
    first = 2**53
    table = {"qid": [1, 1], "doc_id": [first, first + 1], "rel": [0, 1], "score": [2.0, 1.0]}
    rankings = Rankings.from_table(table)
    assert rankings.doc_ids(1) == [first, first + 1]
    assert rankings.evaluate(RR)[RR] == 1 / 2
    qrels = {"q": {str(first): 0, str(first + 1): 1}}
    assert means(qrels, {"q": {str(first): 2.0, str(first + 1): 1.0}}, [RR]) == {"RR": 1 / 2}


def test_many_ids_stay_apart():
    many = 200_000
    docs = [f"doc{number}" for number in range(many)]
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(docs)}}
    for relevant in (0, 1, many - 1):
        assert rs.evaluate({"q": {docs[relevant]: 1}}, run, RR)[RR] == 1 / (relevant + 1)


@pytest.mark.parametrize(
    "name",
    ["ndcg.1=3", "ndcg.1=3,2=9", "ndcg_cut.0", "ndcg_cut.-1", "ndcg_cut.x", "P_0", "unj", ""],
)
def test_a_measure_that_is_none_is_an_error_in_words(name, program, tmp_path):
    with pytest.raises(UsageError, match=r"measure|expected") as refused:
        rs.evaluate(QRELS, RUN, name)
    assert refused.value.hint
    files = [tmp_path / "qrels", tmp_path / "run"]
    for path, line in zip(files, ["q 0 a 1", "q Q0 a 1 1 t"], strict=True):
        path.write_text(line)
    done = program.run("eval", *map(str, files), "-m", name)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Hint: " in done.stderr


def test_measures_of_the_newest_trec_eval_are_there(means):
    found = means(QRELS, RUN, ["dcg", "ideal_dcg", "rbp", "rbp_resid"])
    graded = "RBP(p=0.9, graded=True, max_grade='query')"
    assert list(found) == ["DCG", "IDCG", graded, "RBPResidual(p=0.9)"]


def test_the_program_says_the_version_that_is_installed(program):
    done = program.run("--version")
    assert done.stdout.decode().split() == ["rankscope", version("rankscope")]
    assert rs.__version__ == version("rankscope")


def test_frames_of_the_newest_pandas_are_read():
    pd = pytest.importorskip("pandas", reason="it is what is read")
    frame = pd.DataFrame({"qid": ["q", "q"], "doc": ["a", "b"], "rel": [0, 1], "score": [2.0, 1.0]})
    assert str(frame["qid"].dtype) == ("str" if int(pd.__version__.split(".")[0]) > 2 else "object")
    assert Rankings.from_table(frame).evaluate(RR)[RR] == 1 / 2


OLD = [number / 40 for number in range(40)]
NEW = [value + 0.01 + 0.0001 * (number % 3) for number, value in enumerate(OLD)]


def test_many_runs_are_told_apart_by_a_small_difference_that_all_queries_have_in_common():
    runs = {"old": OLD, "new": NEW, "same": OLD}
    found = rs.compare(runs, values=True, correction="max-t")
    assert found["value", "new"].p_corrected < 0.001
    assert tukey_hsd(OLD, NEW, OLD).pvalue[0, 1] > 0.9


def test_no_permutation_test_has_a_p_value_of_0():
    found = rs.compare({"old": OLD, "new": NEW}, values=True, permutations=999)
    assert found["value", "new"].p == 1 / 1000


def test_a_seed_gives_the_same_p_value_for_any_number_of_threads():
    values = {"old": OLD, "new": [value + 0.05 * (-1) ** (n % 5) for n, value in enumerate(OLD)]}
    found = [
        rs.compare(values, values=True, permutations=999, threads=threads, range=None)
        for threads in (1, 2, 3, 3)
    ]
    assert len({each["value", "new"].p for each in found}) == 1
    assert 1 / 1000 < found[0]["value", "new"].p < 1
