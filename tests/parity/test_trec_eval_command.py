"""`rankscope trec_eval` prints what trec_eval prints, to the byte.

The golden files are the output of trec_eval 9.0.4 for the qrels and the run beside them.
Real runs are compared with the values of pytrec_eval, which are those of trec_eval 9.0.8.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import pytrec_eval

from tests.parity import real

GOLDEN = Path(__file__).with_name("trec_eval")

CASES = {
    "official": "",
    "all": "-q -m all_trec",
    "complete": "-c -m all_trec",
    "level-2": "-q -l2 -m all_trec",
    "complete-level-2": "-c -l2 -m all_trec",
    "most-5": "-q -M 5 -m all_trec",
    "judged": "-J -m all_trec",
    "judged-most": "-J -M10 -c -q -m all_trec",
    "no-summary": "-nq -m map -m P.5,3 -m relstring.25",
    "set": "-q -m set",
    "unjudged-gain": "-q -m ndcg.-1=-1,-2=-2 -m ndcg_rel.-1=-1 -m Rndcg.0=0 -m G.12=4",
    "parameters": "--query -m yaap -m ndcg.1=3,2=9 -m G.1=3,2=9 -m Rndcg.1=3,2=9 "
    "-m ndcg_rel.1=3,2=9 -m set_F.2 -m utility.1,-2,0.5,0.25 -N1000 -m 11pt_avg.0.2,0.5,0.8 "
    "-m iprec_at_recall.0.25,0.1 -m Rprec_mult.0.333 -m success.3,1,2 -m map_cut.7",
}


JUDGES = {"groups": "-q -R qrels_jg -m map_avgjg -m P_avgjg.5 -m Rprec_mult_avgjg.0.5,1.5"}

PREFERENCES = {
    "preferences": ("prefs", "-q -R prefs -m all_prefs"),
    "preferences-of-qrels": ("qrels-prefs", "-q -R qrels_prefs -m all_prefs"),
    "preferences-most-3": ("prefs", "-c -M3 -J -R prefs -m prefs -m prefs_pair_ret"),
}


@pytest.mark.parametrize("case", [*CASES, *JUDGES, *PREFERENCES])
def test_the_output_is_that_of_trec_eval(case, command):
    qrels, run, options = "qrels", "run", (CASES | JUDGES).get(case, "")
    if case in JUDGES:
        qrels = "judges"
    elif case in PREFERENCES:
        run = "prefs-run"
        qrels, options = PREFERENCES[case]
    expected = (GOLDEN / f"{case}.txt").read_text(encoding="utf-8")
    files = (GOLDEN / f"{name}.txt" for name in (qrels, run))
    assert command.print(*options.split(), *files) == expected


@pytest.mark.parametrize("options", ["", "-q -m all_trec", "--dialect 10 -c -q"])
def test_runs_of_one_call_have_the_lines_of_their_own_calls(options, command):
    qrels, one = (GOLDEN / f"{name}.txt" for name in ("qrels", "run"))
    other = command.folder / "other.txt"
    # Fields after the sixth are noted on standard error.
    lines = one.read_text(encoding="utf-8").splitlines()[::2]
    other.write_text("".join(f"{line} extra\n" for line in lines))
    words = options.split()
    alone = [command.print(*words, qrels, run) for run in (one, other)]
    assert command.print(*words, qrels, one, other, one) == "".join([*alone, alone[0]])
    assert f"note: {other}: fields after the sixth" in command.said


def test_an_error_ends_a_call_after_the_runs_before_it(command):
    command.write("q1 0 a 1\n", "q1 Q0 a 1 1 t\n")
    qrels, run = command.files
    first = command.print(qrels, run)
    missing = command.folder / "missing"
    assert command.print(qrels, run, missing, run, status=2) == first
    assert "missing" in command.said
    assert command.print(qrels, "-", "-", status=1) == ""


def test_every_golden_file_is_compared():
    inputs = {"qrels", "run", "judges", "prefs", "qrels-prefs", "prefs-run"}
    found = {path.stem for path in GOLDEN.glob("*.txt")} - inputs
    assert found == {*CASES, *JUDGES, *PREFERENCES}


@pytest.fixture(params=real.TREC)
def files(request):
    return real.paths(request.param)


@pytest.mark.parametrize(
    ("options", "level", "judged_only"), [("", 1, False), ("-l2", 2, False), ("-J", 1, True)]
)
def test_real_runs_have_the_values_and_means_of_pytrec_eval(
    files, options, level, judged_only, command
):
    name = next(name for name in real.TREC if real.DATA / real.TREC[name][1] == files[1])
    qrels, run = real.read(name)
    names = pytrec_eval.supported_measures - {"runid", "relstring", "num_q", "gm_map", "gm_bpref"}
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, names, relevance_level=level, judged_docs_only_flag=judged_only
    )
    theirs = evaluator.evaluate(run)
    lines = [
        f"{measure:<22}\t{query}\t{write(measure, value)}"
        for query in sorted(theirs)
        for measure, value in theirs[query].items()
    ]
    for measure in theirs[next(iter(theirs))]:
        total = 0.0
        for query in sorted(theirs):
            total += theirs[query][measure]
        mean = total if measure.startswith("num_") else total / len(theirs)
        lines.append(f"{measure:<22}\tall\t{write(measure, mean)}")
    found = command.print(*options.split(), "-q", "-m", "all_trec", *files).splitlines()
    assert len(lines) > len(theirs)
    assert set(lines) <= set(found)


def write(measure, value):
    return f"{value:.0f}" if measure.startswith("num_") else f"{value:6.4f}"


SMALL = {
    "qrels": "q1 0 a 3\nq1 0 b 0\nq1 0 c 1\nq1 0 d 1\nq2 0 x 1\n",
    "run": "q1 Q0 a 1 4 t\nq1 Q0 u 2 3 t\nq1 Q0 c 3 2 t\nq1 Q0 b 4 1 t\n",
}


@pytest.fixture
def command(command):
    command.write(SMALL["qrels"], SMALL["run"])
    return command


def test_version_10_has_measures_and_rounding_of_its_own(command):
    words = ["-m", "dcg", "-m", "ideal_dcg", "-m", "iprec_at_recall.0.4", "-m", "unj.2,10"]
    words += ["-m", "rbp.p=0.5", "-m", "rbp_resid.p=0.5", "-m", "11pt_avg.0.4"]
    found = command.values("--dialect", "10", "-q", *words)["q1"]
    # 0.4 of 3 relevant documents is 1.2, which version 10 rounds to 1 and version 9 to 2.
    expected = {
        "iprec_at_recall_0.40": 1 / 1,
        "11pt_avg_0.4": 1 / 1,
        "dcg": 3 / 1 + 1 / 2,
        "ideal_dcg": 3 / 1 + 1 / math.log2(3) + 1 / 2,
        "rbp_p=0.5": 0.5 * (1 + 0.5**2 / 3),
        "rbp_resid_p=0.5": 0.5**4 + 0.5 * 0.5,
        "unj_2": 1 / 2,
        "unj_10": 1 / 10,
    }
    assert found == {name: f"{value:6.4f}" for name, value in expected.items()}
    nine = command.values("-q", "-m", "iprec_at_recall.0.4")["q1"]
    assert nine == {"iprec_at_recall_0.40": f"{2 / 3:6.4f}"}


def test_version_10_prints_queries_that_are_not_in_the_run_with_c(command):
    words = ["-c", "-q", "-m", "num_rel", "-m", "num_ret", "-m", "map", "-m", "relstring"]
    ten = command.values("--dialect", "10", *words)["q2"]
    assert ten == {"num_ret": "0", "num_rel": "1", "map": "0.0000", "relstring": "''"}
    assert "q2" not in command.values(*words)


def test_scores_are_compared_in_the_precision_of_the_version(command):
    command.write("q 0 a 1\n", "q Q0 a 1 1.00000001 t\nq Q0 b 2 1.0 t\n")
    for dialect, value in (("9", "0.5000"), ("10", "1.0000")):
        found = command.values("--dialect", dialect, "-m", "recip_rank")
        assert found == {"all": {"recip_rank": value}}


def test_deviations_are_in_standard_deviations_from_the_mean_of_the_query(command):
    moments = command.folder / "moments"
    moments.write_text("q1 P_1 0.5 0.25\nq1 num_ret 3 2\n")
    words = ["-m", "P.1", "-m", "num_ret", "-m", "map", "-m", "num_q"]
    found = command.values("-q", "-Z", moments, *words)
    one = {"Znum_ret": "0.5000", "Zmap": "-1000000.0000", "ZP_1": "2.0000"}
    assert found == {"q1": one, "all": {**one, "Znum_q": "1.0000"}}


REFUSED = {
    1: "-m ndcg_cut_10; -m unj; -m P.; -l -1; -l two; -l 2.5; -M -1; -N x; --no-such-option; "
    "--dialect 8",
    2: "-m P.0; -m P.5,5; -m P.5.10.15; -m P.5abc; -m P.1e2; -m ndcg.x; -m ndcg.1=3,1=4; "
    "-m set_F.-1; -m iprec_at_recall.2; -m Rprec_mult.0; -R xyz; -R prefs -m prefs; "
    "--dialect 10 -m rbp.x=1; --dialect 10 -m rbp.1=-1; --dialect 10 -m rbp.1=1; "
    "--dialect 10 -m rbp.p=1,1=1,3=1",
    4: "-m utility.1; -m prefs; -m map_avgjg; -R qrels_jg -m map; -R qrels_prefs -m map",
}
"""Arguments by exit status; some of them trec_eval reads in part."""


@pytest.mark.parametrize(
    ("words", "status"),
    [(words, status) for status, given in REFUSED.items() for words in given.split("; ")],
)
def test_what_is_refused_has_the_exit_status_of_trec_eval(words, status, command):
    assert command.values(*words.split(), status=status) == {}


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("nDCG@10", "write -m ndcg_cut.10"),
        ("MAP", "write -m map"),
        ("Compat", "trec_eval doesn't have it: use rankscope eval QRELS RUN -m 'Compat'"),
        ("nonsense", "rankscope trec_eval --help lists the measures"),
        ("rbp", "version 10 has it: add --dialect 10"),
    ],
)
def test_an_unknown_measure_says_what_trec_eval_calls_it(word, hint, command):
    command.values("-m", word, status=1)
    assert f"Hint: {hint}\n" in command.said


def test_numbers_may_have_a_sign_and_blanks(command):
    words = ["-m", "map", "-m", "P.+2"]
    found = command.values(*words, "-l", " +2", "-M", "+3")
    assert found == command.values(*words, "-l2", "-M3")


@pytest.mark.parametrize("length", [-3, 0])
def test_a_relstring_without_documents_is_empty(length, command):
    found = command.values("-q", "-m", f"relstring.{length}")["q1"]
    assert found == {f"relstring_{length}": "''"}


def test_rbp_takes_gains_of_grades_divided_by_the_highest(command):
    given = ["rbp.1=0.5,3=1", "rbp.p=0.5,1=3,3=4", "rbp.p=0.5,-1=1,1=1,3=0.5"]
    found = [
        command.values("--dialect", "10", "-m", name)["all"][name.replace(".", "_", 1)]
        for name in given
    ]  # the documents have the grades 3, none, 1 and 0
    expected = [0.1 * (1 + 0.9**2 * 0.5), 0.5 * (1 + 0.5**2 * 3 / 4), 0.5 * (0.5 + 0.5 + 0.5**2)]
    assert found == [f"{value:.4f}" for value in expected]


def test_rbp_without_gains_takes_the_grades(command):
    for name in ("rbp", "rbp.1=1,3=3"):
        found = command.values("--dialect", "10", "-q", "-m", name)["q1"]
        assert list(found.values()) == [f"{0.1 * (1 + 0.9**2 / 3):.4f}"]


def test_with_c_num_rel_of_all_queries_counts_every_relevant_document(command):
    found = command.values("-c", "-l2", "-q", "-m", "num_rel")
    assert (found["q1"], found["all"]) == ({"num_rel": "1"}, {"num_rel": "4"})
    assert "num_rel of all queries counts grades of 1 or more" in command.said


@pytest.mark.parametrize("format_", ["qrels_jg", "prefs"])
def test_fields_after_the_sixth_are_ignored_in_every_format(format_, command):
    subgroup = " s" if format_ == "prefs" else ""
    judged = "".join(f"q1 u{subgroup} {line}\n" for line in ("a 3", "b 0"))
    words = ["-R", format_, "-m", format_]
    command.write(judged, SMALL["run"])
    expected = command.values(*words)
    command.write(judged, SMALL["run"].replace(" t\n", " t more\n"))
    assert command.values(*words) == expected


def test_an_error_in_a_run_with_more_fields_names_the_file(command):
    broken = SMALL["run"].replace(" t\n", " t more\n").replace(" 3 t", " abc t")
    command.write(SMALL["qrels"], broken)
    command.values(status=2)
    assert f"error: {command.files[1]}:2:" in command.said


@pytest.mark.parametrize(
    ("qrels", "run", "status"),
    [
        (SMALL["qrels"], "", 2),
        ("q1 0 a\n", SMALL["run"], 2),
        (SMALL["qrels"] + "q1 0 a 3\n", SMALL["run"], 4),
        (SMALL["qrels"], SMALL["run"] + "q1 Q0 a 9 0.5 t\n", 4),
        ("q8 0 a 1\n", SMALL["run"], 7),
        (SMALL["qrels"], None, 2),
    ],
)
def test_broken_files_have_the_exit_status_of_trec_eval(qrels, run, status, command):
    command.write(qrels, run or "")
    if run is None:
        command.files[1].unlink()
    assert command.values(status=status) == {}


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ((1, " t\n", " t more and more\n"), "fields after the sixth are ignored"),
        ((0, " 3\n", " 3.9\n"), "grades are cut to whole numbers"),
    ],
)
def test_what_trec_eval_leaves_out_is_left_out_with_a_note(change, note, command):
    place, old, new = change
    expected = command.values("-m", "ndcg")
    path = command.files[place]
    path.write_text(path.read_text().replace(old, new))
    assert command.values("-m", "ndcg") == expected
    assert note in command.said


def test_a_measure_without_parameters_in_any_order_is_printed_in_that_of_trec_eval(command):
    found = command.values("-m", "ndcg_cut.10", "-m", "P.5", "-m", "map", "-m", "ndcg_cut.5")
    assert [*found["all"]] == ["map", "P_5", "ndcg_cut_10"]


PREFERRED = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 1 t\n"


WORDS = ["-q", "-R", "prefs", "-m", "all_prefs"]


def prefer(command, *lines):
    """Write preferences of which two are in the run in the wrong order."""
    command.write("".join(f"q1 {line}\n" for line in lines), PREFERRED)


def test_preferences_are_fulfilled_by_rank_and_by_what_was_retrieved(command):
    # In the run: b, a, c. Not in the run: x, y. The first group prefers a to b, c and x; the second
    # prefers b to a, and x to y.
    prefer(
        command,
        "u s a 3",
        "u s b 0",
        "u s c 0",
        "u s x 0",
        "v s b 2",
        "v s a 1",
        "v t x 2",
        "v t y 1",
    )
    found = command.values(*WORDS)["q1"]
    first, second = 2 / 3, 1 / 2
    expected = {
        "prefs_simp": 3 / 5,
        "prefs_avgjg": (first + second) / 2,
        # For the pair of a and b, each of the groups has another opinion.
        "prefs_pair": (1 / 2 + 1 + 1 + 0) / 4,
        "prefs_simp_ret": 2 / 3,
        "prefs_avgjg_ret": (1 / 2 + 1) / 2,
        "prefs_pair_ret": (1 / 2 + 1) / 2,
        "prefs_simp_imp": 3 / 4,
        "prefs_avgjg_imp": (2 / 3 + 1) / 2,
        "prefs_pair_imp": (1 / 2 + 1 + 1) / 3,
    }
    assert {name: found[name] for name in expected} == {
        name: f"{value:6.4f}" for name, value in expected.items()
    }
    counts = {
        "prefs_num_prefs_poss": "5",
        "prefs_num_prefs_ful": "3",
        "prefs_num_prefs_ful_ret": "2",
    }
    assert {name: found[name] for name in counts} == counts


def test_preferences_of_a_group_are_transitive(command):
    prefer(command, "u s a 2", "u s b 1", "u t b 2", "u t c 1")
    found = command.values(*WORDS)["q1"]
    assert (found["prefs_num_prefs_poss"], found["prefs_num_prefs_ful"]) == ("3", "2")


@pytest.mark.parametrize(
    ("lines", "status", "what"),
    [
        (["u s a 2", "u s b 1", "u s a 3"], 4, "'a' has several levels in one subgroup"),
        (["u s a 2", "u s b 1", "u t b 2", "u t a 1"], 4, "'b' is preferred to a document"),
        (["u s a 2", "u s b 0", "u t b 2", "u t c 1"], 4, "'b' is relevant and not relevant"),
        *(
            ([line], 2, "qrels:1: expected")
            for line in ("u s a", "u s a -1", "u s a x", "u s a 1 2")
        ),
    ],
)
def test_preferences_that_contradict_each_other_or_are_none_are_refused(
    lines, status, what, command
):
    prefer(command, *lines)
    command.values(*WORDS, status=status)
    assert what in command.said
