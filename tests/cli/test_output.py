"""What is printed is the same bytes everywhere, and `rankscope report` says where the page is."""

from __future__ import annotations

import json
import re
import shutil
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import rankscope as rs
from rankscope._compare.report.report import make_pages
from rankscope.errors import hint_extra

from tests.cli.command import check_error, run
from tests.inputs.entry import QRELS, RUN, lines

PLACES = {
    "C": {"LC_ALL": "C"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "German": {"LC_ALL": "de_DE.ISO-8859-1"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "far away": {"TZ": "Pacific/Kiritimati"},
    "homeless": {"HOME": ""},
    "narrow": {"COLUMNS": "20", "LINES": "5", "NO_COLOR": "1", "TERM": "dumb"},
    "colorful": {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"},
}


@pytest.mark.parametrize("words", [["-q"], ["--json", "-q"], ["--csv", "-q"]], ids=" ".join)
def test_the_same_bytes_come_out_in_every_place(words, tmp_path):
    qrels, of_run = str(tmp_path / "ürteile"), str(tmp_path / "läufe ıİ")
    (tmp_path / "ürteile").write_bytes(lines("ıq 0 d 1", "q\u202e\u001b[31m 0 d 1", "q€ 0 d 1"))
    (tmp_path / "läufe ıİ").write_bytes(lines("ıq Q0 d 1 1.5 t", "q€ Q0 d 1 1.5 t"))
    call = ["eval", qrels, of_run, of_run, "-m", "nDCG@10,AP", *words]
    usual = run(*call)
    assert usual.returncode == 0
    assert b"\x1b" not in usual.stderr
    assert "--csv" in words or b"\x1b" not in usual.stdout  # CSV keeps ids as they are
    for environment in PLACES.values():
        done = run(*call, environment=environment, folder="/")
        assert (done.stdout, done.stderr) == (usual.stdout, usual.stderr), environment


def test_errors_are_the_same_bytes_in_every_place(tmp_path):
    path = tmp_path / "ürteile"
    path.write_bytes("q1 0 d\u202e\u001b[31m €\n".encode())
    usual = run("eval", str(path), str(path))
    said = check_error(usual, 3, "rel_not_number")
    assert "ürteile:1:" in said
    for environment in PLACES.values():
        done = run("eval", str(path), str(path), environment=environment)
        assert (done.returncode, done.stderr) == (3, usual.stderr), environment


def test_json_is_one_document_with_everything(program, qrels, run):
    done = program.run("eval", qrels, run, "-m", "RR,P@1", "--json")
    document = json.loads(done.stdout)
    assert document["measures"] == {"RR": 0.5, "P@1": 0.0}
    assert document["denominators"] == {"RR": 2, "P@1": 2}
    assert document["counts"]["queries"] == 2
    assert document["policy"]["ties"] == "doc_id"
    assert document["diagnostics"] == {}
    assert "per_query" not in document
    assert done.stderr == b""


def refuse(constant):
    raise ValueError(constant)


@pytest.mark.parametrize("policy", ["empty=nan", "empty=skip"])
def test_json_has_null_where_there_is_no_number(policy, program, run, tmp_path):
    qrels = tmp_path / "none"
    qrels.write_bytes(lines("q1 0 d1 0", "q2 0 d1 0"))
    done = program.run("eval", str(qrels), run, "-m", "RR", "--json", "-q", "--policy", policy)
    document = json.loads(done.stdout, parse_constant=refuse)
    assert document["measures"] == {"RR": None}
    assert document["per_query"] == {"q1": {"RR": None}, "q2": {"RR": None}}
    assert document["diagnostics"]["n_no_relevant"] == 2


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["QRELS", "RUN", "--nothing"], 2, "usage"),
        (["QRELS", "RUN", "-m", "ndgc"], 2, "unknown_measure"),
        (["QRELS", "RUN", "--policy", "x"], 2, "bad_policy"),
        (["QRELS", "QRELS"], 3, "looks_like_qrels"),
        (["RUN", "RUN"], 3, "looks_like_run"),
        (["QRELS", "BAD"], 3, "score_not_number"),
        (["QRELS", "/none"], 4, "io"),
        (["/", "RUN"], 4, "io"),
    ],
)
def test_errors_are_one_json_document_too(words, status, code, program, files):
    bad = Path(files[1]).with_name("bad")
    bad.write_bytes(RUN + b"q3 Q0 d1 1 x\x1b[31m t\n")
    names = dict(zip(("QRELS", "RUN", "BAD"), (*files, str(bad)), strict=True))
    done = program.run("eval", *(names.get(word, word) for word in words), "--json")
    assert done.returncode == status
    document = json.loads(done.stdout)
    assert document.keys() == {"error"}
    error = document["error"]
    assert error.keys() == {"code", "message", "hint", "file", "line", "column", "value"}
    assert error["code"] == code
    assert error["hint"]
    if "BAD" in words:
        assert (error["file"], error["line"], error["column"]) == (str(bad), 7, 12)
        assert error["value"] == "x\\u{1b}[31m"
    assert len(done.stderr.splitlines()) == 2


def test_strict_refuses_what_is_suspicious(program, qrels, run, tmp_path):
    check = program.run("eval", qrels, run, "--strict")
    assert check.returncode == 0
    blank = tmp_path / "blank"
    blank.write_bytes(b"\n" + RUN)
    said = check_error(program.run("eval", qrels, str(blank), "--strict"), 3, "blank_lines")
    assert f"{blank}:1: " in said


def test_an_encoding_may_be_named(program, tmp_path):
    qrels, of_run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes("é 0 d 1\n".encode("latin-1"))
    of_run.write_bytes("é Q0 d 1 1 t\n".encode("latin-1"))
    call = ["eval", str(qrels), str(of_run), "-m", "RR", "-q"]
    assert "latin-1" in program.run(*call).stderr.decode()
    done = program.run(*call, "--encoding", "latin-1")
    assert done.stdout.decode() == "RR\té\t1.0000\nRR\tall\t1.0000\n"


def test_the_measures_are_listed_and_explained(program):
    listed = program.run("measures")
    assert listed.returncode == 0
    for line in listed.stdout.decode().splitlines():
        name = line.split()[0]
        assert program.run("measures", name).stdout.decode().splitlines()[0] == name
    check_error(program.run("measures", "nothing"), 2, "unknown_measure")


def test_the_demonstration_finds_what_was_planted(program, tmp_path):
    page, kept = tmp_path / "page.html", tmp_path / "kept"
    once = program.run("demo", "--offline", "--seed", "3", "-o", str(page))
    assert (once.returncode, once.stderr) == (0, b"")
    again = program.run("demo", "--offline", "--seed", "3", "--keep", str(kept))
    *lines_of_once, told = once.stdout.decode().splitlines()
    *lines_of_again, told_again = again.stdout.decode().splitlines()
    assert lines_of_again == lines_of_once
    assert (told, told_again) == (f"report: {page}", f"report: {kept / 'rankscope-demo.html'}")
    assert page.stat().st_size > 0
    assert sorted(path.name for path in kept.iterdir()) == [
        "new.run", "old.run", "qrels.txt", "rankscope-demo.html"
    ]  # fmt: skip
    for label in ("judged queries", "without a relevant document", "not in the run"):
        line = next(line for line in lines_of_once if line.startswith(f"{label} "))
        planted, found = line.split()[-2:]
        assert planted == found


def test_a_folder_that_cannot_be_made_is_status_4(program, qrels):
    check_error(program.run("demo", "--keep", qrels), 4, "io")
    check_error(program.run("demo", "--offline", "--keep", qrels), 4, "io")


def test_a_story_is_not_told_over_another(program, tmp_path):
    held = tmp_path / "story.db"
    held.write_bytes(b"kept")
    check_error(program.run("demo", "--once", "--keep", str(tmp_path)), 2, "usage")
    assert held.read_bytes() == b"kept"


def test_an_option_that_a_command_lacks_is_explained_by_that_command(program):
    done = program.run("eval", "qrels", "run", "--nothing", "-x")
    assert done.returncode == 2
    assert "unrecognized arguments: --nothing -x" in done.stderr.decode()
    assert "run rankscope eval --help" in done.stderr.decode()


COLUMNS = b"qid,doc,label,score,events,weight,country\n"
LOG = COLUMNS + b"".join(
    f"q{at},d{doc},{(at + doc) % 3},{doc * 0.5},{event},{at + 1},c{at % 2}\n".encode()
    for at in range(4)
    for doc, event in enumerate("buy" if doc == at else "view" for doc in range(3))
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(LOG)
    return str(path)


def test_the_page_is_that_of_the_function(program, qrels, run, tmp_path):
    page, other = tmp_path / "page.html", str(tmp_path / "other.run")
    shutil.copy(run, other)
    done = program.run("report", qrels, run, other, "-o", str(page), "-m", "nDCG@3,RR")
    expected = rs.report(qrels, [run, other], ["nDCG@3", "RR"]).to_html()
    assert page.read_text(encoding="utf-8") == expected
    assert (done.returncode, done.stdout.decode()) == (
        0, f"{page}: {len(expected.encode()):,} bytes\n"
    )  # fmt: skip


def test_choices_reach_the_page(program, qrels, run):
    words = ["--policy", "empty=skip", "--interval", "0.9", "--seed", "5", "--worst", "1"]
    done = program.run("report", qrels, run, "-o", "-", *words, "--score-type", "float32")
    expected = rs.report(
        qrels,
        run,
        policy="empty=skip",
        interval=rs.Interval(0.9, seed=5),
        worst=1,
        score_type="float32",
    )
    assert done.stdout.decode() == expected.to_html()


def test_a_table_is_reported_by_its_columns(program, log):
    done = program.run("report", log, "-o", "-", "--by", "country", "-m", "RR")
    assert done.stdout.decode() == rs.report(log, "RR", by="country").to_html()
    evaluation = rs.evaluate(log, "RR", by="country")
    assert f'<span class="value">{evaluation["RR"]:.4f}</span>' in done.stdout.decode()


def test_the_command_of_a_table_gives_its_page_again(program, log):
    labels = ["--col", "label=events", "--positive", "buy=2", "--col", "weight=weight"]
    words = [log, "-m", "nDCG@2", "--by", "country", *labels]
    done = program.run("report", *words, "-o", "-")
    assert done.returncode == 0
    evaluated = program.run("eval", *words, "--interval", "0.95").stdout.decode()
    mean = re.search(r"^nDCG@2\tall\t(\S+)", evaluated, flags=re.MULTILINE)
    assert f'<span class="value">{mean[1]}</span>' in done.stdout.decode()
    named = re.search(r"<code>rankscope report (.*?)</code>", done.stdout.decode())
    again = program.run("report", *named[1].split(), "-o", "-")
    assert again.stdout == done.stdout


@pytest.mark.parametrize("beside", [[], ["--policy", "missing=zero"]], ids=["alone", "beside"])
def test_a_convention_gives_its_numbers_and_its_name(beside, program, qrels, run, log):
    for inputs in ([qrels, run], [log]):
        words = [*inputs, "-m", "nDCG@3", "--convention", "trec_eval", *beside]
        done = program.run("report", *words, "-o", "-")
        value = program.run("eval", *words).stdout.decode().split()[1]
        page = done.stdout.decode()
        assert f'<span class="value">{value}</span>' in page
        named = re.search(r"<code>rankscope report (.*?)</code>", page)
        assert "--convention trec_eval@" in named[1]
        again = program.run("report", *named[1].split(), "-o", "-")
        assert again.stdout == done.stdout


def test_standard_input_is_read_once(program, qrels):
    done = program.run("report", qrels, "-", "-o", "-", "-m", "RR", given=RUN)
    assert done.returncode == 0
    page = done.stdout.decode()
    assert sha256(RUN).hexdigest() in page
    assert sha256(QRELS).hexdigest() in page
    assert "&lt;stdin&gt;" in page
    table = program.run("report", "-", "--format", "csv", "-o", "-", "-m", "RR", given=LOG)
    assert sha256(LOG).hexdigest() in table.stdout.decode()
    check_error(program.run("report", "-", "-", given=RUN), 2, "stdin_twice")


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--policy", "empty=none"], 2, "bad_policy"),
        (["--interval", "2"], 2, "bad_interval"),
        (["--worst", "-1"], 2, "bad_parameter"),
        (["--worst", "some"], 2, "usage"),
        (["--by", "country"], 2, "usage"),
        (["-o", "FOLDER/none/page.html"], 4, "io"),
        (["-o", "FOLDER"], 4, "io"),
    ],
)
def test_what_cannot_be_is_refused(words, status, code, *, program, files, tmp_path):
    words = [word.replace("FOLDER", str(tmp_path)) for word in words]
    if "-o" not in words:
        words += ["-o", str(tmp_path / "page.html")]
    check_error(program.run("report", *files, *words), status, code)
    assert not (tmp_path / "page.html").exists()


def test_strict_refuses_what_the_page_would_note(program, qrels, tmp_path):
    run = tmp_path / "short.run"
    run.write_bytes(b"q1 Q0 d1 1 1 t\n")
    done = program.run("report", qrels, str(run), "-o", "-")
    assert done.stderr.decode() == (
        "note: judged queries that are not in the run: 1 (missing=zero) [n_missing]\n"
    )
    check_error(program.run("report", qrels, str(run), "-o", "-", "--strict"), 3, "n_missing")


def test_without_jinja_the_hint_says_what_to_install(qrels, run, monkeypatch):
    report = rs.report(qrels, run)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    make_pages.cache_clear()  # as in a process that has written no page yet
    with pytest.raises(rs.UsageError) as refused:
        report.to_html()
    assert refused.value.code == "missing_extra"
    assert refused.value.hint == hint_extra("plot")
