"""Memory that another library lacks is an error, and no input makes work grow with its square."""

from __future__ import annotations

import numpy as np
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._cli import main


def test_the_error_is_a_memory_error_of_python():
    assert issubclass(rs.errors.OutOfMemoryError, MemoryError)
    assert issubclass(rs.errors.OutOfMemoryError, rs.RankscopeError)
    assert rs.errors.OutOfMemoryError.exit_status == 4


def test_a_memory_error_of_another_library_ends_a_command_with_status_4(monkeypatch, capfd):
    def run_out(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rankscope._cli.read_options", run_out)
    monkeypatch.setattr("rankscope._cli.parser.drop_output", lambda: None)
    assert main(["measures"]) == 4
    assert "[memory]" in capfd.readouterr().err


def test_the_work_does_not_grow_with_the_cutoffs():
    grades = np.arange(300_000) % 4  # squared, this would take long
    for measure in (rs.ndcg, rs.dcg, rs.idcg, rs.cg):
        assert measure(grades, k="all")[-1] == measure(grades)


GRADES = st.sampled_from([0, 1, 2, 3, 0.5, -1, 10, float("nan")])
GAINS = ["linear", "exp2", "binary", {-1: -2, 0: 0, 0.5: 0.25, 1: 1, 2: 5, 3: 2, 10: 3}]
DISCOUNTS = [
    {"discount": "log2"},
    {"discount": "log", "base": 2.5},
    {"discount": "jk", "base": 3},
    {"discount": "reciprocal"},
    {"discount": "linear"},
    {"discount": "zipf", "s": 1.3},
    {"discount": [1 / rank**0.5 for rank in range(1, 61)]},
]


@given(
    lists=st.lists(st.lists(GRADES, min_size=1, max_size=40), min_size=1, max_size=3),
    cutoffs=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    measure=st.sampled_from([rs.ndcg, rs.dcg, rs.idcg, rs.cg]),
    gain=st.sampled_from(GAINS),
    discount=st.sampled_from(DISCOUNTS),
    negative=st.sampled_from(["nonrelevant", "gain", "minmax", "error"]),
    missing_gain=st.sampled_from([None, 0.5, -1]),
    empty=st.sampled_from(["zero", "one", "skip", "nan", "error"]),
    has_ideal=st.booleans(),
)
def test_many_cutoffs_give_the_bits_that_each_gives(
    *, lists, cutoffs, measure, gain, discount, negative, missing_gain, empty, has_ideal
):
    settings = {
        "gain": gain,
        "negative": negative,
        "missing_gain": missing_gain,
    }
    settings |= {} if measure is rs.cg else discount
    settings |= {"empty": empty} if measure is rs.ndcg else {}
    if has_ideal and measure in {rs.ndcg, rs.idcg}:
        settings["ideal"] = [[*of_list[1:], 3, 1] for of_list in lists]

    def find(k):
        try:
            values = measure(lists, k=k, **settings)
        except rs.RankscopeError as error:
            return type(error), error.code
        return values.tobytes()

    one_by_one = [find(k) for k in cutoffs]
    together = find(cutoffs)
    refused = [one for one in one_by_one if isinstance(one, tuple)]
    if refused:
        assert together in refused
    else:
        columns = [np.frombuffer(one) for one in one_by_one if isinstance(one, bytes)]
        assert together == np.stack(columns, axis=-1).tobytes()
