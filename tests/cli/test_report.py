"""`rankscope report`: whatever `eval` reads it reads, and it says where the page is."""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import rankscope as rs
from rankscope.errors import hint_extra
from rankscope.report.render import make_pages

from tests.cli.command import check_error
from tests.inputs.entry import QRELS, RUN
from tests.program import Program

COLUMNS = b"qid,doc,label,score,events,weight,country\n"
LOG = COLUMNS + b"".join(
    f"q{at},d{doc},{(at + doc) % 3},{doc * 0.5},{event},{at + 1},c{at % 2}\n".encode()
    for at in range(4)
    for doc, event in enumerate("buy" if doc == at else "view" for doc in range(3))
)


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    path.write_bytes(LOG)
    return str(path)


def test_the_page_is_that_of_the_function(
    program: Program, qrels: str, run: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    done = program.run("report", qrels, run, run, "-o", str(page), "-m", "nDCG@3,RR")
    expected = rs.report(qrels, [run, run], ["nDCG@3", "RR"]).to_html()
    assert page.read_text(encoding="utf-8") == expected
    assert (done.returncode, done.stdout.decode()) == (
        0, f"{page}: {len(expected.encode()):,} bytes\n"
    )  # fmt: skip


def test_choices_reach_the_page(program: Program, qrels: str, run: str) -> None:
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


def test_a_table_is_reported_by_its_columns(program: Program, log: str) -> None:
    done = program.run("report", log, "-o", "-", "--by", "country", "-m", "RR")
    assert done.stdout.decode() == rs.report(log, "RR", by="country").to_html()
    evaluation = rs.evaluate(log, "RR", by="country")
    assert f'<span class="value">{evaluation["RR"]:.4f}</span>' in done.stdout.decode()


def test_the_command_of_a_table_gives_its_page_again(program: Program, log: str) -> None:
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
def test_a_convention_gives_its_numbers_and_its_name(
    beside: list[str], program: Program, qrels: str, run: str, log: str
) -> None:
    for files in ([qrels, run], [log]):
        words = [*files, "-m", "nDCG@3", "--convention", "trec_eval", *beside]
        done = program.run("report", *words, "-o", "-")
        value = program.run("eval", *words).stdout.decode().split()[1]
        page = done.stdout.decode()
        assert f'<span class="value">{value}</span>' in page
        named = re.search(r"<code>rankscope report (.*?)</code>", page)
        assert "--convention trec_eval@" in named[1]
        again = program.run("report", *named[1].split(), "-o", "-")
        assert again.stdout == done.stdout


def test_standard_input_is_read_once(program: Program, qrels: str) -> None:
    done = program.run("report", qrels, "-", "-o", "-", "-m", "RR", given=RUN)
    assert done.returncode == 0
    page = done.stdout.decode()
    assert sha256(RUN).hexdigest() in page
    assert sha256(QRELS).hexdigest() in page
    assert "&lt;stdin&gt;" in page
    table = program.run("report", "-", "--format", "csv", "-o", "-", "-m", "RR", given=LOG)
    assert sha256(LOG).hexdigest() in table.stdout.decode()
    check_error(program.run("report", "-", "-", given=RUN), 2, "stdin_twice")


@pytest.fixture
def files(qrels: str, run: str) -> list[str]:
    return [qrels, run]


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
def test_what_cannot_be_is_refused(
    words: list[str], status: int, code: str, *, program: Program, files: list[str], tmp_path: Path
) -> None:
    words = [word.replace("FOLDER", str(tmp_path)) for word in words]
    if "-o" not in words:
        words += ["-o", str(tmp_path / "page.html")]
    check_error(program.run("report", *files, *words), status, code)
    assert not (tmp_path / "page.html").exists()


def test_strict_refuses_what_the_page_would_note(
    program: Program, qrels: str, tmp_path: Path
) -> None:
    run = tmp_path / "short.run"
    run.write_bytes(b"q1 Q0 d1 1 1 t\n")
    done = program.run("report", qrels, str(run), "-o", "-")
    assert done.stderr.decode() == (
        "note: judged queries that are not in the run: 1 (missing=zero) [n_missing]\n"
    )
    check_error(program.run("report", qrels, str(run), "-o", "-", "--strict"), 3, "n_missing")


def test_without_jinja_the_hint_says_what_to_install(
    qrels: str, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = rs.report(qrels, run)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    make_pages.cache_clear()  # as in a process that has written no page yet
    with pytest.raises(rs.UsageError) as refused:
        report.to_html()
    assert refused.value.code == "missing_extra"
    assert refused.value.hint == hint_extra("plot")
