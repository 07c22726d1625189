"""`rankscope trec_eval` prints what trec_eval prints where its rules surprise."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, groupby, permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope._trec_eval import preferences
from rankscope._trec_eval.preferences import ConflictError, find_values

QRELS = "q1 0 a 3\nq1 0 b 0\nq1 0 c 1\nq2 0 x 1\nq2 0 y 2\n"
ONE = QRELS[: QRELS.index("q2")]
"""The judgments of the first query."""
RUN = "q1 Q0 a 1 4 t\nq1 Q0 u 2 3 t\nq1 Q0 c 3 2 t\n"


@pytest.fixture
def command(command):
    command.write(QRELS, RUN)
    return command


@pytest.mark.parametrize("dialect", ["9", "10"])
def test_a_deviation_of_0_is_0_where_the_value_is_the_mean(dialect, command):
    command.write(ONE, RUN)
    moments = command.folder / "moments"
    moments.write_text("q1 P_1 1.0 0\nq1 num_ret 2 0.0\nq1 success_1 3 -0.5\nq1 recip_rank 0 nan\n")
    words = ["-m", "P.1", "-m", "num_ret", "-m", "success.1", "-m", "recip_rank", "-m", "num_q"]
    found = command.values("--dialect", dialect, "-q", "-Z", moments, *words)
    values = {
        "Znum_ret": "-1000000.0000",
        "Zrecip_rank": "   nan",
        "ZP_1": "0.0000",
        "Zsuccess_1": f"{(1 - 3) / -0.5:.4f}",
    }
    assert found == {"q1": values, "all": {**values, "Znum_q": "1.0000"}}


def test_with_c_num_rel_is_the_number_of_relevant_documents_beside_deviations(command):
    (command.folder / "moments").write_text("q1 num_rel 1 2\n")
    found = command.values("-q", "-c", "-Z", command.folder / "moments", "-m", "num_rel")
    assert found == {"q1": {"Znum_rel": f"{(2 - 1) / 2:.4f}"}, "all": {"Znum_rel": "4.0000"}}


def test_a_geometric_mean_of_deviations_counts_absent_queries_as_the_least_value(command):
    (command.folder / "moments").write_text("q1 gm_map -1 0.5\n")
    found = command.values("-c", "-Z", command.folder / "moments", "-m", "gm_map")
    precision = (1 + 2 / 3) / 2
    logarithms = (math.log(precision) + 1) / 0.5 + math.log(0.000_01)
    assert found == {"all": {"Zgm_map": f"{math.exp(logarithms / 2):.4f}"}}


LINES = {
    "qrels": ["q1 0 a 3", "q1 0 b 0", "q1 0 c 1"],
    "qrels_jg": ["q1 u a 3", "q1 u b 0", "q1 v c 1"],
    "prefs": ["q1 u s a 3", "q1 u s b 0", "q1 v s c 1"],
    "qrels_prefs": ["q1 u a 3", "q1 u b 0", "q1 v c 1"],
}
COMMENTS = ["# made by hand", "#q1 0 a 3", "#", "#x 1 2 3 4 5"]


@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize("form", LINES)
def test_version_10_skips_comments_in_every_format(form, comment, command):
    nickname = {"qrels": "official", "qrels_prefs": "prefs"}.get(form, form)
    words = ["--dialect", "10", "-c", "-q", "-R", form, "-m", nickname]
    one, *others = LINES[form]
    command.write("\n".join([one, *others, ""]), RUN)
    expected = command.values(*words)
    command.write("\n".join([one, comment, *others, ""]), f"{comment}\n{RUN}")
    assert command.values(*words) == expected
    assert expected["all"]["num_q"] == "1"


@pytest.mark.parametrize("form", ["qrels_jg", "prefs", "qrels_prefs"])
def test_a_comment_of_other_fields_is_a_mistake_in_version_9(form, command):
    command.write("# made by hand alone today\n" + "\n".join(LINES[form]), RUN)
    nickname = "qrels_jg" if form == "qrels_jg" else "prefs"
    assert command.values("-R", form, "-m", nickname, status=2) == {}


def test_a_mistake_after_a_comment_has_its_line_and_its_file(command):
    command.write(f"#by hand\n{QRELS}q3 0 a\n", RUN)
    command.values("--dialect", "10", status=2)
    assert f"error: {command.files[0]}:7:" in command.said
    command.write(QRELS, f"{RUN}#by hand\nq1 Q0 d 1 abc t\n")
    command.values("--dialect", "10", status=2)
    assert f"error: {command.files[1]}:5:" in command.said


@pytest.mark.parametrize("dialect", ["9", "10"])
def test_decimals_of_cutoffs_are_left_out_with_a_note(dialect, command):
    command.write(ONE, RUN)
    found = command.values("--dialect", dialect, "-m", "P.2,3.9,5.")["all"]
    assert found == {"P_2": f"{1 / 2:.4f}", "P_3": f"{2 / 3:.4f}", "P_5": f"{2 / 5:.4f}"}
    assert "P.2,3.9,5.: trec_eval leaves out decimals of cutoffs" in command.said


def test_the_residual_of_rbp_is_0_where_everything_is_judged_or_nothing_was_retrieved(command):
    command.write(QRELS + "q3 0 z 1\n", RUN + "q3 Q0 z 1 1 t\n")
    words = ["--dialect", "10", "-c", "-q", "-m", "rbp_resid"]
    first = 0.9**3 + (1 - 0.9) * 0.9  # of q1: one unjudged document at rank 2 of 3
    assert command.values(*words) == {
        "q1": {"rbp_resid": f"{first:.4f}"},
        "q2": {"rbp_resid": "0.0000"},
        "q3": {"rbp_resid": "0.0000"},
        "all": {"rbp_resid": f"{first / 3:.4f}"},
    }
    # With parameters, the name is another one, and the absent query has one unjudged document.
    found = command.values(*words[:-1], "rbp_resid.p=0.5")
    assert found["q2"] == {"rbp_resid_p=0.5": f"{0.5 + (1 - 0.5):.4f}"}


def test_version_10_takes_an_absent_query_for_one_unjudged_document(command):
    words = ["--dialect", "10", "-c", "-q", "-N", "9", "-m"]
    found = command.values(*words, "utility.1,-2,-3,0.5")
    assert found["q2"] == {"utility_1,-2,-3,0.5": f"{-2 - 3 * 2 + 0.5 * (9 - 1 - 2):.4f}"}
    assert command.values(*words, "utility")["q2"] == {"utility": "0.0000"}


@pytest.mark.parametrize("form", LINES)
def test_version_10_prints_all_queries_with_c_if_none_is_in_the_run(form, command):
    command.write("\n".join(LINES[form]), "q9 Q0 a 1 1 t\n")
    measure = {"qrels": "map", "qrels_jg": "map_avgjg"}.get(form, "prefs_simp")
    words = ["-R", form, "-c", "-q", "-m", measure]
    found = command.values("--dialect", "10", *words)
    assert found == {"q1": {measure: "0.0000"}, "all": {measure: "0.0000"}}
    assert command.values(*words, status=7) == {}


@pytest.mark.parametrize(("dialect", "least"), [("9", 0.1), ("10", 0.5)])
@pytest.mark.parametrize("emptied", ["-J", "-M0"])
def test_the_precision_of_no_documents_is_minus_nan_where_no_relevant_one_is_needed(
    emptied, dialect, least, command
):
    command.write(ONE, "q1 Q0 u 1 1 t\n")
    words = ["-m", "iprec_at_recall.0.0,0.04,0.1,0.3", "-m", "11pt_avg.0.04,0.9", "-m", "P.1"]
    values = {
        f"iprec_at_recall_{level:.2f}": "  -nan" if level * 2 < least else "0.0000"
        for level in (0.0, 0.04, 0.1, 0.3)
    }
    expected = {**values, "P_1": "0.0000", "11pt_avg_0.04,0.9": "  -nan"}
    found = command.values("--dialect", dialect, "-q", emptied, *words)
    assert found == {"q1": expected, "all": expected}


@pytest.mark.parametrize(
    ("level", "measure", "value"),
    [
        ("0", "Rndcg", "  -nan"),
        ("1", "Rndcg", "0.0000"),
        ("0", "Rndcg.1=0,-2=2", "  -nan"),
        ("1", "Rndcg.0=2", "1.0000"),
    ],
)
def test_rndcg_is_minus_nan_where_documents_are_relevant_and_none_has_a_gain(
    level, measure, value, command
):
    grade = "1" if measure == "Rndcg.0=2" else "0"
    command.write(f"q1 0 a {grade}\nq1 0 b -1\n", "q1 Q0 a 1 1 t\n")
    found = command.values("-q", f"-l{level}", "-m", measure)
    assert {*found["q1"].values(), *found["all"].values()} == {value}


def test_a_value_that_is_not_defined_is_told_on_standard_error(command):
    command.write(QRELS, "q1 Q0 u 1 1 t\n")
    command.values("-J", "-m", "iprec_at_recall")
    note = "iprec_at_recall is -nan, as in trec_eval, for queries without a value: 1"
    assert note in command.said


def test_means_divide_sums_that_are_added_in_the_order_of_the_queries(command):
    hits = [2, 6, 3, 4, 5, 4, 7, 4]
    qrels, run = [], []
    for query, count in enumerate(hits):
        qrels += [f"q{query} 0 d{number} 1" for number in range(count)]
        run += [f"q{query} Q0 d{number} 1 1 t" for number in range(count)] or [
            f"q{query} Q0 u 1 1 t"
        ]
    command.write("\n".join(qrels), "\n".join(run))
    total = 0.0
    for count in hits:
        total += count / 20
    found = command.values("-m", "P.20")["all"]["P_20"]
    assert found == f"{total / len(hits):.4f}"
    assert found != f"{math.fsum(count / 20 for count in hits) / len(hits):.4f}"


def test_version_10_has_one_table_of_gains_for_dcg_and_ndcg(command):
    command.write(ONE, RUN)
    words = ["--dialect", "10", "-m", "dcg.3=1", "-m", "ideal_dcg", "-m", "ndcg"]
    dcg, ideal = 1 + 1 / 2, 1 + 1 / math.log2(3)
    values = {"dcg": dcg, "ideal_dcg": ideal, "ndcg": dcg / ideal}
    assert command.values(*words)["all"] == {
        f"{name}_3=1": f"{value:.4f}" for name, value in values.items()
    }


DOCUMENTS = 7

judgments = st.lists(
    st.tuples(
        st.sampled_from([b"u", b"v", b"w"]),
        st.sampled_from([b"s", b"t"]),
        st.sampled_from([0.0, 1.0, 1.5, 2.0]),
        st.integers(0, DOCUMENTS - 1),
    ),
    min_size=1,
    max_size=16,
)


def find_preferences(group):
    """Return how often each document of a group is preferred to another one."""
    stated = Counter(
        (better[3], worse[3])
        for better, worse in permutations(group, 2)
        if better[1] == worse[1] and better[2] > worse[2]
    )
    if len({subgroup for _, subgroup, _, _ in group}) == 1:
        return stated
    pairs = set(stated)
    while more := {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - pairs:
        pairs |= more
    return Counter({pair for pair in pairs if pair[0] != pair[1]})


def define_values(given, retrieved):
    """Return the values by their definition."""
    groups = [
        find_preferences(list(group)) for _, group in groupby(sorted(given), lambda one: one[0])
    ]

    def is_in(pair, scope):
        found = sum(document < retrieved for document in pair)
        return found >= {"": 0, "_imp": 1, "_ret": 2}[scope]

    values = {}
    for scope in ("", "_imp", "_ret"):
        shares, fulfilled, possible = [], 0, 0
        for group in groups:
            some = {pair: times for pair, times in group.items() if is_in(pair, scope)}
            good = sum(times for (a, b), times in some.items() if a < b and a < retrieved)
            shares.append(good / sum(some.values()) if some else 0.0)
            fulfilled, possible = fulfilled + good, possible + sum(some.values())
        values[f"prefs_avgjg{scope}"] = sum(shares[1:], shares[0]) / len(shares)
        values[f"prefs_simp{scope}"] = fulfilled / possible if possible else 0.0
        values |= {f"prefs_num_prefs_ful{scope}": fulfilled} if scope != "_imp" else {}
        values |= {"prefs_num_prefs_poss": possible} if scope == "" else {}
    total = sum(groups, Counter[tuple[int, int]]())
    found, pairs = 0.0, 0
    pairs_of = list(combinations(range(DOCUMENTS), 2))
    # Retrieved documents are first, since the shares are added up in this order.
    for scope, count in (("_ret", 2), ("_imp", 1), ("", 0)):
        for a, b in pairs_of:
            won, lost = total[a, b], total[b, a]
            if (a < retrieved) + (b < retrieved) == count and won + lost:
                found += won / (won + lost) if count else 0.0
                pairs += 1
        values[f"prefs_pair{scope}"] = found / pairs if pairs else 0.0
    return values


@pytest.mark.parametrize("at_once", [1, DOCUMENTS, 3 * DOCUMENTS, 1 << 22])
@given(given=judgments, retrieved=st.integers(0, DOCUMENTS))
def test_values_are_those_of_the_definition(at_once, given, retrieved):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preferences, "PAIRS_AT_ONCE", at_once)
        try:
            values = find_values(given, DOCUMENTS, retrieved)
        except ConflictError:
            assume(False)
        expected = define_values(given, retrieved)
    assert {name: values[name] for name in expected} == expected


@pytest.mark.parametrize(
    "given",
    [
        [(b"u", b"s", 2.0, 0), (b"u", b"s", 1.0, 0)],
        [(b"u", b"s", 1.0, 0), (b"u", b"t", 0.0, 0)],
        [(b"u", b"s", 2.0, 0), (b"u", b"s", 1.0, 1), (b"u", b"t", 2.0, 1), (b"u", b"t", 1.0, 0)],
        # The second document is above and below the first within one subgroup.
        [(b"u", b"s", n, d) for n, d in ((3.0, 1), (2.0, 0), (1.0, 1))] + [(b"u", b"t", 1.0, 2)],
        # Two documents are both above and below each other.
        [(b"u", b"s", n, d) for n in (2.0, 1.0) for d in (0, 1)] + [(b"u", b"t", 1.0, 2)],
    ],
)
def test_contradictions_within_a_group_are_errors(given):
    with pytest.raises(ConflictError):
        find_values(given, 3, 3)


def test_a_document_with_two_neighbouring_levels_in_a_subgroup_is_between_them():
    levels = [(3.0, 0), (3.0, 1), (2.0, 1), (2.0, 2)]
    given = [*((b"u", b"s", level, number) for level, number in levels), (b"u", b"t", 1.0, 3)]
    assert find_values(given, 4, 4)["prefs_num_prefs_poss"] == 3
