"""One text can name several measures, and several cutoffs of one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.cli import main
from rankscope.errors import MeasureError
from rankscope.measures.parse import split_measures

from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.4}, "q2": {"d5": 0.7, "d4": 0.6}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@1,5,10", ["nDCG@1", "nDCG@5", "nDCG@10"]),
        ("nDCG @ 1, 5", ["nDCG@1", "nDCG@5"]),
        ("P@5,10,AP,R@3", ["P@5", "P@10", "AP", "R@3"]),
        ("RBP(p=0.5)@1,2", ["RBP(p=0.5)@1", "RBP(p=0.5)@2"]),
        ("nDCG(gain=[0, 1, 2, 7])@1,2", ["nDCG(gain=[0, 1, 2, 7])@1", "nDCG(gain=[0, 1, 2, 7])@2"]),
        ("P_5,10", ["P_5", "P_10"]),
        ("ndcg_cut.5,10", ["ndcg_cut.5", "ndcg_cut.10"]),
        ("IPrec@0.1,0.2", ["IPrec@0.1", "IPrec@0.2"]),
    ],
)
def test_a_number_after_a_comma_is_one_more_cutoff(text: str, names: list[str]) -> None:
    assert split_measures([text]) == names
    expected = rs.evaluate(QRELS, RUN, names)
    assert dict(rs.evaluate(QRELS, RUN, text)) == dict(expected)
    assert dict(rs.evaluate(QRELS, RUN, [text])) == dict(expected)
    assert dict(rs.Rankings.from_run(QRELS, RUN).evaluate([text])) == dict(expected)


def test_one_measure_is_expected_where_one_is_taken() -> None:
    error = refused(lambda: rs.Rankings.from_run(QRELS, RUN).losses("nDCG@1,5"), "bad_parameter")
    assert "found 2" in error.message
    refused(lambda: rs.parse("nDCG@1,5"), "bad_parameter", "a number after '@'")


@pytest.mark.parametrize("text", ["AP,10", "10", "10,nDCG@5", ",5"])
def test_a_number_without_a_cutoff_before_it_is_refused(text: str) -> None:
    with pytest.raises(MeasureError, match="found a number alone") as caught:
        rs.evaluate(QRELS, RUN, [text])
    assert "nDCG@1,5,10" in caught.value.hint


@pytest.mark.parametrize(
    "words",
    [
        "qrels.txt a.run -m nDCG@3 AP",
        "qrels.txt -m nDCG@3 AP a.run",
        "-m nDCG@3 AP qrels.txt a.run",
        "-m nDCG@3, AP qrels.txt a.run",
        "-m nDCG@3 -m AP qrels.txt a.run",
        "qrels.txt a.run --measure=nDCG@3 AP",
        "qrels.txt a.run -m nDCG@3,AP",
    ],
)
def test_measures_can_follow_the_option_in_any_order(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2.0 a\n")
    assert main(["eval", *words.split()]) == 0
    assert capsys.readouterr().out == "nDCG@3\t0.6131\nAP\t0.5000\n"


def test_a_file_is_a_file_even_if_it_is_called_as_a_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AP").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2.0 a\n")
    assert main(["eval", "-m", "P@1", "AP", "r"]) == 0
    assert capsys.readouterr().out == "P@1\t1.0000\n"


def test_a_word_after_the_measures_that_is_no_file_is_an_unknown_measure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eval", "q.txt", "r.run", "-m", "AP", "nDGC@3"]) == 2
    assert "unknown measure 'nDGC@3' [unknown_measure]" in capsys.readouterr().err
