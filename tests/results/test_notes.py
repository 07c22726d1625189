"""Notes about integer IDs, scales and sampled candidates, and the notes of several runs."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, P, nDCG

from tests.cli.command import run
from tests.inputs.entry import nested

QRELS = {f"q{at}": {"d1": 1} for at in range(4)}
MISSING = [0, 1, 3, 1, 0, 2, 2, 1, 1, 1, 1, 0]
"""How many queries each of twelve runs lacks."""
RUNS = {
    f"run{at:02}": {query: {"d1": 1.0} for query in list(QRELS)[missing:]}
    for at, missing in enumerate(MISSING)
}
LACKING = sum(missing > 0 for missing in MISSING)


def test_a_note_of_many_runs_says_how_many_they_are():
    comparison = rs.compare(QRELS, RUNS, "RR")
    (note,) = comparison.notes
    assert str(note) == (
        f"{LACKING} of 12 runs: judged queries that are not in the run: 1 to 3 (missing=zero) "
        "[n_missing]"
    )
    assert comparison.diagnostics == {"n_missing": sum(MISSING)}


def test_a_note_of_few_runs_names_them_unless_all_share_it():
    for names, about in (
        (("run00", "run01", "run03"), "run01, run03: "),
        (("run00", "run01"), "run01: "),
        (("run01", "run03"), ""),  # all of them
    ):
        (note,) = rs.compare(QRELS, {name: RUNS[name] for name in names}, "RR").notes
        assert str(note).startswith(f"{about}judged queries that are not in the run: 1 (")


def test_the_report_lists_a_note_once_with_its_runs():
    report = rs.report(QRELS, RUNS, "RR")
    (note,) = report.notes
    assert str(note).startswith(f"{LACKING} of {len(RUNS)} runs: judged queries")
    assert report.to_html().count("not in the run: 1 to 3 (missing=zero)") == 1


def test_the_program_prints_a_note_of_twelve_files_once(tmp_path):
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d1 1\n" for query in QRELS))
    for name, lists in RUNS.items():
        lines = "".join(f"{query} Q0 d1 {2 + at % 2} 1 r\n" for at, query in enumerate(lists))
        (tmp_path / f"{name}.txt").write_text(lines)
    files = [f"{name}.txt" for name in RUNS]
    done = run("eval", "qrels.txt", *files, "-m", "RR", folder=str(tmp_path))
    (note,) = (line for line in done.stderr.decode().splitlines() if "rank_irregular" in line)
    assert note == (
        "note: 12 runs: queries whose ranks are not 1, 2, 3, …, ordered by score: "
        f"{min(4 - one for one in MISSING)} to 4 [rank_irregular]"
    )


STARS = {"q1": {"d1": 5, "d2": 1}, "q2": {"d3": 1, "d4": 3}}
SHOWN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 2.0, "d4": 1.0}}
ROWS = [(q, d, grade, SHOWN[q][d]) for q, docs in STARS.items() for d, grade in docs.items()]
TABLE = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance", "score"])

WAYS = {
    "evaluate": lambda _: rs.evaluate(STARS, SHOWN, "P@2"),
    "several runs": lambda _: rs.evaluate(STARS, {"a": SHOWN, "b": SHOWN}, "P@2")["a"],
    "a convention": lambda _: rs.evaluate(STARS, SHOWN, "P@2", convention="ranx"),
    "samples": lambda _: rs.evaluate_samples(STARS, [SHOWN, SHOWN], "EEL"),
    "compare": lambda _: rs.compare(STARS, {"a": SHOWN, "b": SHOWN}, "P@2"),
    "a table": lambda _: rs.evaluate(TABLE, "P@2"),
    "a stream": lambda path: rs.evaluate(write(TABLE, path), "P@2"),
    "scattered rows": lambda path: rs.evaluate(write(TABLE.iloc[[0, 2, 1, 3]], path), "P@2"),
    "rankings": lambda _: rs.Rankings.from_table(TABLE).evaluate("P@2"),
    "arrays": lambda _: rs.Rankings.from_arrays([[5, 1]], [[1.0, 2.0]]).evaluate("P@2"),
}


def write(table, path):
    table.to_csv(path / "log.csv", index=False)
    return str(path / "log.csv")


def notes_of(found):
    return [str(note) for note in found.notes if note.code == "all_relevant"]


@pytest.mark.parametrize("way", WAYS)
def test_a_scale_from_1_on_is_noted_for_binary_measures(way, tmp_path):
    (note,) = notes_of(WAYS[way](tmp_path))
    name, example = ("EEL", "EEL(rel=4)") if way == "samples" else ("P@2", "P(rel=4)@2")
    assert note == (
        f"grades are from 1 to 5, so every judged document is relevant for {name}; "
        f"set rel, as in {example} [all_relevant]"
    )


def test_the_measures_of_one_result_are_one_note():
    (note,) = notes_of(rs.evaluate(STARS, SHOWN, [nDCG, AP, P(rel=2) @ 2, P @ 2]))
    assert "relevant for AP, P@2; set rel, as in AP(rel=4)" in note


@pytest.mark.parametrize("measure", [P(rel=4) @ 2, P(rel=0.5) @ 2, nDCG @ 10])
def test_a_measure_with_rel_or_gains_has_no_such_note(measure):
    assert notes_of(rs.evaluate(STARS, SHOWN, measure)) == []


@pytest.mark.parametrize("grades", [(0, 1, 2), (0, 5), (1, 1), (1, 2), (-1, 3), (0.5, 3)])
def test_usual_grades_have_no_such_note(grades):
    qrels = {"q1": {f"d{at}": grade for at, grade in enumerate(grades)}}
    assert notes_of(rs.evaluate(qrels, SHOWN, "P@2")) == []


@pytest.mark.parametrize(("highest", "rel"), [(3, 3), (4, 3), (5, 4), (10, 6)])
def test_the_example_is_the_upper_half_of_the_scale(highest, rel):
    qrels = {"q1": {"d1": 1, "d2": highest}}
    (note,) = notes_of(rs.evaluate(qrels, SHOWN, "RR"))
    assert f"from 1 to {highest}," in note
    assert f"RR(rel={rel})" in note


def test_grades_of_judges_are_noted():
    (note,) = notes_of(rs.judges.evaluate(STARS, STARS, SHOWN, "P@2"))
    assert "P(rel=4)@2" in note


def test_the_program_notes_it(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 5\nq1 0 d2 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d2 1 2 r\nq1 Q0 d1 2 1 r\n")
    done = run("eval", "qrels.txt", "run.txt", "-m", "P@2", folder=str(tmp_path))
    assert b"P(rel=4)@2 [all_relevant]" in done.stderr


def test_a_measure_that_uses_grades_in_place_of_rel_is_not_noted():
    assert not notes_of(rs.evaluate(STARS, SHOWN, "RBP(graded=True,max_grade=5)"))
    assert notes_of(rs.evaluate(STARS, SHOWN, "RBP"))


def moves(log, *, ascending=False):
    """Count queries in which the grades of ties in the order of texts aren't those of numbers."""
    count = 0
    for _, rows in groupby(sorted(log), key=lambda row: row[0]):
        ties = groupby(sorted(rows, key=lambda row: row[3]), key=lambda row: row[3])
        moved = False
        for _, same in ties:
            tied = list(same)
            as_text = sorted(tied, key=lambda row: str(row[1]), reverse=not ascending)
            as_numbers = sorted(tied, key=lambda row: row[1], reverse=not ascending)
            moved |= str([row[2] for row in as_text]) != str([row[2] for row in as_numbers])
        count += moved
    return count


def judgments(log):
    found = {}
    for query, doc, grade, _ in log:
        found.setdefault(query, {99_999: 0.0})
        if not np.isnan(grade):
            found[query][doc] = grade
    return found


def rows_of(log):
    return [(query, doc, score) for query, doc, _, score in log]


def run_of(log):
    return nested(rows_of(log))


def frame(log):
    return pd.DataFrame(rows_of(log), columns=["query_id", "doc_id", "score"])


def as_text(qrels):
    return {str(q): {str(d): grade for d, grade in docs.items()} for q, docs in qrels.items()}


def evaluate(qrels, run, policy):
    return rs.evaluate(qrels, run, "RR", policy=policy)


def hold(qrels, run, policy):
    return rs.Rankings.from_run(qrels, run, ties=policy.removeprefix("ties=")).evaluate("RR")


def scattered(log, folder):
    frame(log).sort_values("doc_id").to_parquet(folder / "run.parquet", index=False)
    return str(folder / "run.parquet")


WAYS_OF_IDS = {
    "mapping": lambda log, _, policy: evaluate(judgments(log), run_of(log), policy),
    "rows": lambda log, _, policy: evaluate(judgments(log), rows_of(log), policy),
    "frame": lambda log, _, policy: evaluate(judgments(log), frame(log), policy),
    "frame beside text": lambda log, _, way: evaluate(as_text(judgments(log)), frame(log), way),
    "file": lambda log, folder, way: evaluate(judgments(log), scattered(log, folder), way),
    "rankings": lambda log, _, policy: hold(judgments(log), run_of(log), policy),
    "rankings of a frame": lambda log, _, policy: hold(judgments(log), frame(log), policy),
}

TIED = [(1, 9, 0.0, 1.0), (1, 10, 1.0, 1.0), (2, 9, 1.0, 2.0), (2, 10, 0.0, 1.0)]


@pytest.mark.parametrize("way", WAYS_OF_IDS)
def test_ties_whose_order_as_text_moves_grades_are_noted(way, tmp_path):
    found = WAYS_OF_IDS[way](TIED, tmp_path, "ties=doc_id")
    assert moves(TIED) == 1
    (note,) = (note for note in found.notes if note.code == "int_ids")
    assert "9 is greater than 10, and not as numbers: 1 (ties=doc_id)" in str(note)
    assert [*found.to_dict().values()] == [{"RR": 1 / 2}, {"RR": 1.0}]


@pytest.mark.parametrize("way", WAYS_OF_IDS)
@pytest.mark.parametrize("ties", ["average", "input", "best", "worst"])
def test_ties_that_ids_do_not_decide_are_not_noted(way, ties, tmp_path):
    assert "int_ids" not in WAYS_OF_IDS[way](TIED, tmp_path, f"ties={ties}").diagnostics


def test_digits_that_are_text_are_not_noted():
    found = rs.evaluate(as_text(judgments(TIED)), as_text(run_of(TIED)), "RR")
    assert "int_ids" not in found.diagnostics


@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.integers(-20, 120),
            st.sampled_from([0.0, 1.0, 2.0, np.nan]),
            st.sampled_from([1.0, 2.0]),
        ),
        min_size=1,
        max_size=30,
        unique_by=lambda row: row[:2],
    ),
    st.booleans(),
)
def test_the_note_counts_the_queries_of_the_definition(log, ascending):
    policy = f"ties={'doc_id_asc' if ascending else 'doc_id'}"
    expected = moves(log, ascending=ascending)
    for way in ("mapping", "rows", "frame", "frame beside text", "rankings"):
        found = WAYS_OF_IDS[way](log, None, policy).diagnostics
        assert found.get("int_ids", 0) == expected, way


def test_a_table_notes_them_if_ids_decide_its_ties():
    table = pd.DataFrame(TIED, columns=["query_id", "doc_id", "relevance", "score"])
    assert rs.evaluate(table, "RR").diagnostics["int_ids"] == 1
    assert "int_ids" not in rs.evaluate(table, "RR", policy="ties=average").diagnostics


def lists(queries, size, relevant=1):
    random = np.random.default_rng(4)
    row = [1] * relevant + [0] * (size - relevant)
    return [random.permutation(row).tolist() for _ in range(queries)]


def test_lists_that_look_like_sampled_candidates_are_noted():
    evaluation = rs.Rankings.from_lists(lists(12, 101)).evaluate("nDCG@10")
    assert evaluation.diagnostics == {"sampled_candidates": 12}
    assert "to decide between systems, rank all items" in str(evaluation)


@pytest.mark.parametrize(("queries", "noted"), [(9, {}), (10, {"sampled_candidates": 10})])
def test_ten_lists_look_like_sampled_candidates_and_fewer_do_so_by_chance(queries, noted):
    assert rs.Rankings.from_lists(lists(queries, 101)).evaluate("nDCG@10").diagnostics == noted


def test_a_run_and_a_table_of_sampled_candidates_are_noted():
    rows = [
        (query, doc, label, 21.0 - doc)
        for query, grades in enumerate(lists(15, 21))
        for doc, label in enumerate(grades)
    ]
    table = pd.DataFrame(rows, columns=["q", "doc_id", "label", "score"])
    assert rs.evaluate(table, "RR", query="q").diagnostics["sampled_candidates"] == 15
    qrels = nested((f"q{query}", f"d{doc}", label) for query, doc, label, _ in rows)
    run = nested((f"q{query}", f"d{doc}", score) for query, doc, _, score in rows)
    assert rs.evaluate(qrels, run, "RR").diagnostics == {"sampled_candidates": 15}
    # Without explicit grades of 0, this is the list of a search engine.
    few = {query: {doc: 1 for doc, grade in docs.items() if grade} for query, docs in qrels.items()}
    assert rs.evaluate(few, run, "RR").diagnostics == {}


@pytest.mark.parametrize(
    "given",
    [lists(9, 101), lists(12, 19), lists(12, 101, 2), lists(12, 101) + lists(1, 102)],
    ids=["few queries", "short lists", "two relevant", "other sizes"],
)
def test_other_lists_are_not_noted(given):
    assert rs.Rankings.from_lists(given).evaluate("nDCG@10").diagnostics == {}
