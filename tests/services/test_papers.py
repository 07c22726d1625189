"""Tables for papers are compiled with a real LaTeX, and read back as text."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import rankscope as rs

QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
NAMES = (
    r"\input{/etc/passwd}",
    "[2pt]*{x}",
    "a&b%c$d#e_f~g^h",
    '"); #panic("<>|',
    "dash--dash ``quote''",
    "*star",
    "-0.5",
    "é 字 🐙",
)
ORDERS = ("abc", "acb", "cba", "bac", "abc", "acb", "cab", "bca")
RUNS = {
    name: {query: [*order] for query in QRELS} for name, order in zip(NAMES, ORDERS, strict=True)
}
MEASURES = ["nDCG@2", "RR(rel=2)", "Unjudged@2"]
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,amssymb}
\begin{document}
Table~\ref{tab:runs}
%s
\end{document}
"""

DRAWN = str.maketrans({"_": " ", "~": "˜", "^": "ˆ"})
"""What the default fonts of LaTeX have for some characters."""


def make_tables():
    found = rs.evaluate(QRELS, RUNS, MEASURES)
    results = {
        "evaluation": rs.evaluate(QRELS, RUNS[NAMES[0]], MEASURES, interval=0.95),
        "evaluations": found,
        "comparison": rs.compare(QRELS, RUNS, MEASURES[:2], baseline=NAMES[2]),
        "letters": rs.compare(QRELS, RUNS, MEASURES[:2]),
        "leaderboard": rs.leaderboard(found, baseline=NAMES[1:3]),
    }
    caption = "50% of_{runs} & all"

    def bind(result):
        return lambda form: getattr(result, f"to_{form}")(caption=caption, label="tab:runs")

    return {name: bind(result) for name, result in results.items()}


TABLES = make_tables()


def compile_latex(text, folder):
    program = shutil.which("pdflatex")
    assert program is not None, "expected pdflatex in PATH"
    (folder / "paper.tex").write_text(DOCUMENT.replace("%s", text), encoding="utf-8")
    for _ in range(2):  # the second time, it knows the number of the table
        done = subprocess.run(
            [program, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:]
    assert "undefined" not in done.stdout
    return folder / "paper.pdf"


def read_pdf(path):
    program = shutil.which("pdftotext")
    assert program is not None, "expected pdftotext in PATH"
    done = subprocess.run(
        [program, "-layout", str(path), "-"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def keep(path, name):
    """Copy a PDF for a person to look at."""
    if "RANKSCOPE_PICTURES" in os.environ:
        shutil.copy(path, Path(os.environ["RANKSCOPE_PICTURES"]) / name)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_compiles_with_latex_and_shows_every_name_as_it_is(name, tmp_path):
    path = compile_latex(TABLES[name]("latex"), tmp_path)
    keep(path, f"paper-{name}.pdf")
    text = read_pdf(path)
    assert "Table 1" in text
    assert "50% of_{runs} & all".translate(DRAWN) in text
    if name != "evaluation":
        for run in (*NAMES[:3], NAMES[5], "dash--dash"):
            assert run.translate(DRAWN) in text
        assert "[U+5B57] [U+1F419]" in text


def test_the_whole_comparison_compiles_too(tmp_path):
    text = rs.compare(QRELS, RUNS, MEASURES[:2], bounds=True).table("latex")
    labelled = text.replace(r"\centering", r"\centering\label{tab:runs}", 1)
    path = compile_latex(labelled, tmp_path)
    assert "differences over 12 queries" in read_pdf(path)
