"""Calls that cannot be meant: exit status 2, and nothing on standard output."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from argparse import ArgumentTypeError, Namespace
from types import SimpleNamespace

import pytest
import rankscope
from rankscope._cli.parser import _show_briefly
from rankscope._demo.options import _read_port
from rankscope._explain import command
from rankscope._trec_eval.columns import rbp_kernel
from rankscope._trec_eval.requests import ENTRIES, Requested, _read_number
from rankscope.errors import LimitError, MeasureError, UsageError
from rankscope.monitor.commands import serve
from rankscope.monitor.commands.causes import _check_size

from tests.cli.command import check_error, run


def test_the_module_is_the_command():
    for words, status in ((["measures", "nDCG"], 0), (["nothing"], 2)):
        module = [sys.executable, "-m", "rankscope", *words]
        done = subprocess.run(module, capture_output=True, timeout=300, check=False)
        same = run(*words)
        assert (done.stdout, done.stderr) == (same.stdout, same.stderr)
        assert done.returncode == status


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["--nothing"],
        ["eval"],
        ["eval", "QRELS"],
        ["eval", "QRELS", "RUN", "--nothing"],
        ["eval", "QRELS", "RUN", "-m"],
        ["eval", "QRELS", "RUN", "-q", "-q"],
        ["eval", "QRELS", "RUN", "--json", "--json"],
        ["eval", "QRELS", "RUN", "--csv", "--csv"],
        ["eval", "QRELS", "RUN", "--json", "--csv"],
        ["eval", "QRELS", "RUN", "--policy", "empty=skip", "--policy", "empty=skip"],
        ["eval", "QRELS", "RUN", "--duplicates", "last"],
        ["eval", "QRELS", "RUN", "--encoding", "utf-16"],
        ["eval", "QRELS", "RUN", "--thread", "2"],
        ["eval", "QRELS", "RUN", "--threads", "two"],
        ["eval", "QRELS", "RUN", "--threads", "1.5"],
        ["eval", "-qrels", "-run"],
        ["measures", "nDCG", "AP"],
        ["demo", "--seed", "abc"],
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "1e3"],
        ["demo", "--port", "65536"],
        ["demo", "--once", "--port", "8000"],
        ["demo", "--offline", "--port", "8000"],
        ["demo", "-o", "page.html"],
    ],
    ids=" ".join,
)
def test_a_call_that_is_none_is_refused(words, program):
    done = program.run(*words)
    if "--json" in words:
        assert done.returncode == 2
        assert json.loads(done.stdout)["error"]["code"] == "usage"
    else:
        check_error(done, 2, "usage")


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("-m", "ndgc@10", "unknown_measure"),
        ("-m", "ndcg@0", "bad_parameter"),
        ("-m", "", "usage"),
        ("-m", ",", "no_measures"),
        ("-m", "nDCG@10 nDCG@", "bad_parameter"),
        ("--policy", "empty", "bad_policy"),
        ("--policy", "empty=none", "bad_policy"),
        ("--policy", "nothing=1", "bad_policy"),
        ("--policy", "empty=skip,empty=skip", "bad_policy"),
        ("--threads", "0", "bad_threads"),
        ("--threads", "-1", "bad_threads"),
        ("--threads", "-99999999999999999999", "bad_threads"),
    ],
)
def test_a_measure_a_policy_and_a_number_of_threads_that_are_none_are_refused(
    option, value, code, program, files
):
    check_error(program.run("eval", *files, option, value), 2, code)


def test_any_number_of_threads_may_be_asked_for(program, qrels, run):
    """X7: it is no more than is of use."""
    done = program.run("eval", qrels, run, "--threads", "10000")
    assert (done.returncode, done.stdout) == (0, program.run("eval", qrels, run).stdout)


@pytest.mark.parametrize("words", [["-", "-"], ["RUN", "-", "-"], ["-", "RUN", "-"]])
def test_standard_input_is_one_file(words, program, run):
    words = [run if word == "RUN" else word for word in words]
    check_error(program.run("eval", *words), 2, "stdin_twice")


def test_help_and_version_are_no_errors(program):
    for words in (["--help"], ["eval", "--help"], ["measures", "--help"], ["demo", "--help"]):
        done = program.run(*words)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"usage: rankscope")
    assert program.run("--version").stdout == f"rankscope {rankscope.__version__}\n".encode()


def test_a_misspelt_option_is_told_which_was_meant(program):
    done = program.run("compare", "log.csv", "--score", "old,new")
    check_error(done, 2, "usage")
    assert b"Hint: did you mean --scores? Run rankscope compare --help" in done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["-l", "2"], "write the relevance level in the measure: -m 'AP(rel=2)'."),
        (["--rel", "2"], "write the relevance level in the measure: -m 'AP(rel=2)'."),
        (["-c"], "leave it out: queries that are not in the run count as 0."),
        (["--metrics", "AP"], "did you mean -m nDCG@10?"),
        (["--ties", "average"], "did you mean --policy ties=…?"),
        (["--ci", "0.9"], "did you mean --interval 0.95?"),
        (["-o", "values.tsv"], "redirect the output to a file: > values.tsv."),
        (["--qid", "topic"], "name the column: --col query=qid."),
        (["-x"], ""),
    ],
)
def test_an_option_of_another_tool_is_told_what_to_write(words, hint, program):
    done = program.run("eval", "qrels.txt", "bm25.run", *words)
    check_error(done, 2, "usage")
    said = f"Hint: {hint} Run rankscope eval" if hint else "Hint: run rankscope eval"
    assert said in done.stderr.decode()


def test_what_an_option_of_another_tool_means_is_what_it_is_told(program, qrels, run):
    for words in (["-m", "AP(rel=2)"], ["--policy", "ties=average"], ["--interval", "0.95"]):
        assert program.run("eval", qrels, run, *words).returncode == 0
    # A command without measures has no levels of relevance.
    assert b"relevance level" not in program.run("measures", "AP", "-l").stderr


def test_a_command_that_there_is_not_is_told_which_does_it(program):
    done = program.run("reconcile", "qrels.txt", "bm25.run")
    check_error(done, 2, "usage")
    assert b"rankscope conventions QRELS RUN -m nDCG@10 --got" in done.stderr


def test_columns_in_one_word_are_asked_for_one_by_one(program, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("query_id,doc_id,score,relevance,country,device\nq,d,1,1,us,web\n")
    done = program.run("eval", str(log), "-m", "RR", "--by", "country,device")
    check_error(done, 3, "columns")
    assert b"repeat the option" in done.stderr


RBP = next(entry for entry in ENTRIES if entry.name == "rbp")
PRECISION = next(entry for entry in ENTRIES if entry.name == "P")


def refuse_serving(port, every):
    """The option of `serve` that is refused. A store in a file needs its evaluation."""
    options = Namespace(store="a.db", port=port, every=every, no_evaluate=True)
    with pytest.raises(UsageError) as refused:
        serve.run(options)
    return refused.value.message.split()[0]


def test_a_port_is_a_number_from_0_to_65535():
    for port in (-1, 0, 1, 65_534, 65_535, 65_536):
        is_port = 0 <= port < 65_536
        assert refuse_serving(port, 60.0) == ("--no-evaluate" if is_port else "--port")
        if is_port:
            assert _read_port(str(port)) == port
        else:
            with pytest.raises(ArgumentTypeError):
                _read_port(str(port))


def test_a_service_evaluates_within_a_million_seconds():
    for every in (0.0, 5e-324, math.nextafter(1e6, 0), 1e6, math.nextafter(1e6, 2e6)):
        is_fit = 0 < every < 1e6
        assert refuse_serving(8000, every) == ("--no-evaluate" if is_fit else "--every")


def test_an_explanation_has_17_decimals_at_most():
    for digits in (-1, 0, 16, 17, 18):
        # Grades that are none are refused later.
        options = Namespace(format=[], digits=digits, grades=["x"])
        with pytest.raises((UsageError, AttributeError)) as refused:
            command.run(options)
        is_refused = "--digits must be" in str(refused.value)
        assert is_refused == (not 0 <= digits <= 17)


def test_an_error_is_printed_whole_up_to_800_characters():
    for count in (799, 800, 801):
        text = "x" * (count // 2) + "y" * (count - count // 2)
        cut = f"{'x' * 400}…{'y' * 400}"
        assert _show_briefly(text) == (text if count <= 800 else cut)


def test_a_file_has_5_million_documents_at_most():
    file = SimpleNamespace(name="a")
    for count in (4_999_999, 5_000_000):
        _check_size(count, file)
    with pytest.raises(LimitError):
        _check_size(5_000_001, file)


def test_a_cutoff_of_trec_eval_is_from_1_to_2_to_the_53rd():
    for cutoff in (0, 1, 2**53 - 1, 2**53, 2**53 + 2):
        if 1 <= cutoff <= 2**53:
            assert _read_number(PRECISION, str(cutoff)) == cutoff
        else:
            with pytest.raises(MeasureError, match="expected a cutoff"):
                _read_number(PRECISION, str(cutoff))


def count_ranks(p):
    """How many ranks have a weight in RBP."""
    requested = Requested(RBP, f"p={p}", (), (("p", p), ("1", 1.0)))
    ranks = rbp_kernel(requested, [0, 1])[1]["k"]
    return int(ranks)


def test_ranks_count_in_rbp_until_their_weight_is_a_quintillionth():
    ranks = count_ranks(0.995)
    assert 0.995**ranks <= 1e-18 < 0.995 ** (ranks - 1)


def test_the_persistence_of_rbp_is_0_9999_at_most():
    assert count_ranks(0.9999) > 400_000
    with pytest.raises(MeasureError, match="expected p from 0"):
        count_ranks(math.nextafter(0.9999, 1))


def test_a_misspelt_measure_is_told_what_was_meant(program, qrels, run):
    done = program.run("eval", qrels, run, "-m", "ndgc@10")
    assert b"nDCG@10" in done.stderr
    assert b"nDCG" in program.run("measures", "ndgc").stderr
