"""Limits of commands: just below, at and just above each of them."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError, Namespace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from rankscope.cli.output import _show_briefly
from rankscope.demo.commands.options import _read_port
from rankscope.derivation import command as explain
from rankscope.errors import LimitError, MeasureError, UsageError
from rankscope.monitor.commands import serve
from rankscope.monitor.commands.causes import _check_size
from rankscope.trec_eval.catalog import ENTRIES
from rankscope.trec_eval.command import _read_count
from rankscope.trec_eval.requests import Requested, _read_number, rbp_kernel

if TYPE_CHECKING:
    from typing import Any

RBP = next(entry for entry in ENTRIES if entry.name == "rbp")
PRECISION = next(entry for entry in ENTRIES if entry.name == "P")


def refuse_serving(port: int, every: float) -> str:
    """The option of `serve` that is refused. A store in a file needs its evaluation."""
    options = Namespace(store="a.db", port=port, every=every, no_evaluate=True)
    with pytest.raises(UsageError) as refused:
        serve.run(options)
    return refused.value.message.split()[0]


def test_a_port_is_a_number_from_0_to_65535() -> None:
    for port in (-1, 0, 1, 65_534, 65_535, 65_536):
        is_port = 0 <= port < 65_536
        assert refuse_serving(port, 60.0) == ("--no-evaluate" if is_port else "--port")
        if is_port:
            assert _read_port(str(port)) == port
        else:
            with pytest.raises(ArgumentTypeError):
                _read_port(str(port))


def test_a_service_evaluates_within_a_million_seconds() -> None:
    for every in (0.0, 5e-324, math.nextafter(1e6, 0), 1e6, math.nextafter(1e6, 2e6)):
        is_fit = 0 < every < 1e6
        assert refuse_serving(8000, every) == ("--no-evaluate" if is_fit else "--every")


def test_an_explanation_has_17_decimals_at_most() -> None:
    for digits in (-1, 0, 16, 17, 18):
        # Grades that are none are refused later.
        options = Namespace(format=[], digits=digits, grades=["x"])
        with pytest.raises((UsageError, AttributeError)) as refused:
            explain.run(options)
        is_refused = "--digits must be" in str(refused.value)
        assert is_refused == (not 0 <= digits <= 17)


def test_an_error_is_printed_whole_up_to_800_characters() -> None:
    for count in (799, 800, 801):
        text = "x" * (count // 2) + "y" * (count - count // 2)
        cut = f"{'x' * 400}…{'y' * 400}"
        assert _show_briefly(text) == (text if count <= 800 else cut)


def test_a_file_has_5_million_documents_at_most() -> None:
    file: Any = SimpleNamespace(name="a")
    for count in (4_999_999, 5_000_000):
        _check_size(count, file)
    with pytest.raises(LimitError):
        _check_size(5_000_001, file)


@pytest.mark.parametrize("option", ["-M", "-l"])
def test_a_count_of_trec_eval_has_18_digits_at_most(option: str) -> None:
    for digits in (17, 18):
        assert _read_count("9" * digits, option) == 10**digits - 1
    with pytest.raises(UsageError, match="at most 18 digits"):
        _read_count("9" * 19, option)


def test_a_cutoff_of_trec_eval_is_from_1_to_2_to_the_53rd() -> None:
    for cutoff in (0, 1, 2**53 - 1, 2**53, 2**53 + 2):
        if 1 <= cutoff <= 2**53:
            assert _read_number(PRECISION, str(cutoff)) == cutoff
        else:
            with pytest.raises(MeasureError, match="expected a cutoff"):
                _read_number(PRECISION, str(cutoff))


def count_ranks(p: float) -> int:
    """How many ranks have a weight in RBP."""
    requested = Requested(RBP, f"p={p}", (), (("p", p), ("1", 1.0)))
    ranks: Any = rbp_kernel(requested, [0, 1])[1]["k"]
    return int(ranks)


def test_ranks_count_in_rbp_until_their_weight_is_a_quintillionth() -> None:
    ranks = count_ranks(0.995)
    assert 0.995**ranks <= 1e-18 < 0.995 ** (ranks - 1)


def test_the_persistence_of_rbp_is_0_9999_at_most() -> None:
    assert count_ranks(0.9999) > 400_000
    with pytest.raises(MeasureError, match="expected p from 0"):
        count_ranks(math.nextafter(0.9999, 1))
