"""Names and numbers of any length and shape give a measure or a typed error, by bounded work."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tracemalloc
import urllib.parse
from pathlib import Path

import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._names import LONGEST_NAME, MOST_NAMES, find_closest, quote
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.measures.parse import LONGEST_TEXT, split_measures
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.times import read_duration

from tests.monitor.server.music import MUSIC, log_music

PACKAGE = Path(rs.__file__).parent
LONG = 60_000
LONGEST_MESSAGE = 1_500
"""Of an error: what was expected, 120 characters of what was found, and a hint."""

QRELS = {"q1": {"d1": 1}}
RUN = {"q1": {"d1": 0.5}}

HOSTILE = {
    "lists nested 500 deep": "nDCG(gain=" + "[" * 500 + "1" + "]" * 500 + ")",
    "lists nested until the limit": "nDCG(gain=" + "[" * (LONGEST_TEXT - 10),
    "mappings nested 500 deep": "nDCG(gain=" + "{0:" * 500,
    "brackets": "(" * LONG,
    "an unknown name": "x" * LONG,
    "an unknown name that ends in digits": "x" * LONG + "1" * 1000,
    "underscores": "_" * LONG,
    "a known name, repeated": "ndcg_cut_" * 6000,
    "digits after @ and a letter": "nDCG@" + "1" * LONG + "x",
    "digits and points after @": "nDCG@" + "1." * LONG,
    "exponents": "nDCG@1" + "e1" * LONG,
    "digits after the name": "ndcg_cut_" + "1" * LONG,
    "blanks": " " * LONG + "nDCG" + " " * LONG + "x",
    "levels": "nDCG" + "-l1" * LONG,
    "digits of a level": "nDCG-l" + "1" * LONG + "x",
    "quotes": "nDCG(gain=" + "'" * (LONG + 1),
    "parameters": "nDCG(" + ",".join(f"p{n}=1" for n in range(6000)) + ")",
    "one parameter, repeated": "nDCG(" + "rel=1," * 6000 + ")",
    "a table that never ends": "nDCG(discount=[" + "1," * (LONG // 2),
    "a mapping of one grade, repeated": "nDCG(gain={" + "1:1," * (LONG // 4) + "})",
    "an unknown parameter": "nDCG(" + "x" * LONG + "=1)",
    "an unknown word": f"nDCG(gain='{'x' * LONG}')",
    "a grade of 10,000 digits": f"P(rel={'9' * 10_000})@5",
    "a grade in a mapping of 10,000 digits": f"nDCG(gain={{{'9' * 10_000}:1}})",
    "an infinite parameter": "RBP(p=1e999)",
    "an infinite level": "AP-l" + "9" * 4500,
    "NUL": "nDCG\0@10",
    "a lone surrogate": "nDCG\ud800@10",
    "more than a text may have": "AP" + " " * LONGEST_TEXT,
}


def check_refusal(refusal):
    """An error says what is wrong and how to fix it, in few words."""
    error = refusal.value
    assert error.code
    assert error.hint
    assert len(str(error)) < LONGEST_MESSAGE
    assert len(error.value or "") <= LONGEST_MESSAGE


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_measure_is_a_typed_error(text):
    with pytest.raises(MeasureError) as refusal:
        rs.parse(text)
    check_refusal(refusal)
    with pytest.raises(MeasureError):
        rs.evaluate(QRELS, RUN, text)


def test_all_of_them_take_little_time_and_memory():
    """Ten seconds of a processor for all of them together: a hundred times what they need."""
    program = (
        "import json, resource, sys\n"
        "import rankscope as rs\n"
        "texts = json.load(sys.stdin)\n"
        "rs.parse('nDCG')\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "seconds = int(used.ru_utime + used.ru_stime) + 10\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))\n"
        "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\n"
        "for text in texts:\n"
        "    try:\n"
        "        rs.parse(text)\n"
        "    except rs.RankscopeError:\n"
        "        continue\n"
        "    sys.exit(f'no error: {text[:80]!r}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(list(HOSTILE.values())).encode(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_unknown_name_takes_memory_for_itself_only():
    text = "x" * LONG
    with pytest.raises(MeasureError):
        rs.parse("nDGC")  # loads what errors need
    tracemalloc.start()
    try:
        with pytest.raises(MeasureError):
            rs.parse(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * LONG


PIECES = st.one_of(
    st.sampled_from(["nDCG", "AP", "ndcg_cut_", "P", "RBP", "gain", "discount", "rel", "k", "dcg"]),
    st.sampled_from(list("()[]{}=,:'\"@-.+_ <>")),
    st.sampled_from(["-l", "1e999", "None", "True", "nan", "inf", "\0", "\ud800", "\u202e", "\n"]),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=8),
)


def read_or_refuse(read, text):
    """What a text is read as, or the error."""
    try:
        return read(text)
    except rs.RankscopeError as error:
        return error


@pytest.mark.slow
@given(st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_is_a_measure_or_a_typed_error(text):
    for name in {text, *split_measures([text])}:
        read = read_or_refuse(rs.parse, name)
        if isinstance(read, rs.Measure):
            assert rs.parse(str(read)) == read
        else:
            assert isinstance(read, MeasureError)
            assert len(str(read)) < LONGEST_MESSAGE


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_a_policy_or_a_typed_error(text):
    read = read_or_refuse(rs.Policy.parse, text)
    assert isinstance(read, rs.Policy | PolicyError)
    assert len(str(read)) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    "text", ["nDCG@99999999999999999999", "RBP(p=0.5)", "P(rel=" + "9" * 200 + ")@5"]
)
def test_large_numbers_that_are_in_the_domain_are_read(text):
    assert rs.parse(str(rs.parse(text))) == rs.parse(text)


HUGE = 10**5000
CALLS = {
    "a cutoff": lambda: rs.nDCG @ HUGE,
    "a cutoff of a measure without one": lambda: rs.NumRel @ HUGE,
    "a relevance level": lambda: rs.P(rel=HUGE),
    "a gain": lambda: rs.nDCG(gain=[0, HUGE]),
    "a nested gain": lambda: rs.nDCG(gain=nest(5000)),
    "the gain of a missing document": lambda: rs.Policy(missing_gain=HUGE),
    "the gain of an unjudged document": lambda: rs.Policy(unjudged=HUGE),
    "an aggregate": lambda: rs.Policy(aggregate=HUGE),
    "ties": lambda: rs.Policy(ties="x" * LONG),
    "a convention": lambda: rs.evaluate(QRELS, RUN, "nDCG", convention="x" * LONG),
    "the version of a convention": lambda: rs.evaluate(
        QRELS, RUN, "nDCG", convention="lightgbm@" + "1" * LONG
    ),
    "a policy": lambda: rs.evaluate(QRELS, RUN, "nDCG", policy="x" * LONG),
    "a parameter": lambda: rs.nDCG(**{"x" * LONG: 1}),
    "what is no measure": lambda: rs.evaluate(QRELS, RUN, [HUGE]),
    "a number from elsewhere": lambda: rs.reconcile(QRELS, RUN, "nDCG", got="1" * LONG),
    "a cutoff of grades": lambda: rs.ndcg([1, 0], -HUGE),
    "a table that a definition could not be read with": lambda: define(
        measures=[rs.nDCG(discount=[0.123456789] * 10_000) @ 10], positive="click", window=60
    ),
}


def nest(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_hostile_values_from_python_are_typed_errors(call):
    with pytest.raises(UsageError) as refusal:
        call()
    check_refusal(refusal)


def test_a_column_of_a_wrong_name_is_compared_with_a_bounded_number():
    table = {f"column_{number}": [1] for number in range(20_000)}
    with pytest.raises(rs.RankscopeError) as refusal:
        rs.Rankings.from_table(table, query="x" * LONG)
    check_refusal(refusal)


# -- One suggester, which is bounded


def test_names_are_compared_in_one_place_only():
    words = ("difflib", "SequenceMatcher", "levenshtein")
    using = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert using == {"_names.py"}


def test_comparing_names_is_bounded(monkeypatch):
    compared = []
    original = difflib.get_close_matches

    def count(word, known, **said):
        compared.append(len(known))
        assert max(map(len, [word, *known])) <= LONGEST_NAME
        return original(word, known, **said)

    monkeypatch.setattr(difflib, "get_close_matches", count)
    known = (f"name{number}" * (1 + number % 40) for number in range(100_000))
    assert find_closest("nam0", known) == "name0"
    assert find_closest("x" * (LONGEST_NAME + 1), ["x"]) is None
    assert len(compared) == 1
    assert compared[0] <= MOST_NAMES


@given(st.text())
def test_a_name_is_closest_to_itself_and_quoted_in_few_characters(name):
    expected = name if 0 < len(name) <= LONGEST_NAME else None
    assert find_closest(name, [name]) == expected
    assert len(quote(name)) <= 121
    assert quote(name).isascii() or quote(name).isprintable()


class Rude:
    """An object that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [HUGE, nest(5000), [0] * 10**6, {n: n for n in range(10**5)}, b"x" * LONG, Rude()],
    ids=["an integer", "lists in lists", "a list", "a dict", "bytes", "rude"],
)
def test_anything_can_be_quoted(value):
    assert 0 < len(quote(value)) <= 121


@pytest.mark.parametrize("text", ["9999999w", "9" * 5000 + "d", "1e9d", "", "\0", "-1d", "nan"])
def test_a_duration_that_no_calendar_has_is_refused(text):
    with pytest.raises(UsageError) as refusal:
        read_duration(text)
    check_refusal(refusal)


# -- The command line


TAKING_MEASURES = {
    "eval": ("eval", "QRELS", "RUN", "-m"),
    "diff": ("diff", "QRELS", "RUN", "RUN", "-m"),
    "report": ("report", "QRELS", "RUN", "-o", "-", "-m"),
    "conventions": ("conventions", "QRELS", "RUN", "-m"),
    "explain": ("explain", "QRELS", "RUN", "--query", "q1", "-m"),
    "explain grades": ("explain", "--grades", "1", "0", "-m"),
    "measures": ("measures",),
    "a policy": ("eval", "QRELS", "RUN", "--policy"),
    "a convention": ("eval", "QRELS", "RUN", "--convention"),
    "two conventions": ("conventions", "QRELS", "RUN", "--between", "trec_eval"),
}


@pytest.mark.parametrize("words", TAKING_MEASURES.values(), ids=TAKING_MEASURES)
@pytest.mark.parametrize("name", ["lists nested 500 deep", "an unknown name", "a lone surrogate"])
def test_a_hostile_name_on_the_command_line_is_status_2(words, name, program, files):
    places = {"QRELS": str(files / "qrels"), "RUN": str(files / "run")}
    text = HOSTILE[name].replace("\ud800", "\udc80")  # as an argument that is no UTF-8 comes in
    done = program.run(*(places.get(word, word) for word in words), text)
    assert done.returncode == 2, done
    assert done.stdout == b""
    assert done.stderr.startswith(b"rankscope: error: ")
    assert len(done.stderr) < LONGEST_MESSAGE


# -- The service


SHORT = {name: text[:2000] for name, text in HOSTILE.items() if "surrogate" not in name}


@pytest.mark.parametrize("name", ["lists nested 500 deep", "an unknown name", "NUL"])
def test_the_service_refuses_hostile_measures(name, service):
    log_music(service)
    admin = service.make_key("music", "admin")
    reader = service.make_key("music", "read")
    short, text = SHORT[name], HOSTILE[name]
    measured = write_configuration(MUSIC)
    measured["definition"] = {**measured["definition"], "measures": [text]}
    answers = [
        service.ask("GET", f"/v1/series?measure={escape(short)}", key=reader),
        service.ask("GET", f"/v1/trace?measure={escape(short)}", key=reader),
        service.ask("PUT", "/v1/configuration", json.dumps(measured).encode(), key=admin),
    ]
    browser = service.browser()
    browser.sign_in(reader)
    answers.append(browser.get(f"/?measure={escape(short)}"))
    for answer in answers:
        assert 400 <= answer.status_code < 500, answer.text[:500]
        assert len(answer.text) < 20_000


def escape(text):
    return urllib.parse.quote(text, safe="")
