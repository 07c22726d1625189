"""A table keeps arrays as they are, reads columns when asked, and leaves by four ways."""

from __future__ import annotations

import numpy as np
from rankscope import Table


def table(reads: list[str]) -> Table:
    def read_ids() -> list[str]:
        reads.append("query_id")
        return ["q1", "q2"]

    return Table({"query_id": read_ids, "value": np.array([0.5, np.nan]), "n": [3, 4]})


def test_a_column_that_is_a_function_is_read_once_and_only_when_asked_for() -> None:
    reads: list[str] = []
    made = table(reads)
    assert (len(made), made.names) == (2, ("query_id", "value", "n"))
    assert reads == []
    assert made.column("query_id") == ("q1", "q2")
    assert str(made) == "query_id   value  n\nq1        0.5000  3\nq2           nan  4"
    assert reads == ["query_id"]


def test_arrays_leave_as_numbers_of_python_and_as_columns_of_libraries() -> None:
    made = table([])
    assert made.to_dict()["q1"] == {"value": 0.5, "n": 3}
    assert type(made.column("value")[0]) is float
    for frame in (made.to_pandas(), made.to_polars()):
        assert frame["n"].to_list() == [3, 4]
    assert made.to_arrow()["query_id"].to_pylist() == ["q1", "q2"]
    assert made.to_arrow()["value"].to_pylist()[0] == 0.5


def test_an_array_is_given_without_a_copy() -> None:
    values = np.arange(3.0)
    assert Table({"value": values}).array("value") is values
    assert Table({"n": [1, 2]}).array("n").tolist() == [1, 2]


def test_a_list_that_changes_later_does_not_change_the_table() -> None:
    given = [1, 2]
    made = Table({"n": given})
    given.append(3)
    assert made.column("n") == (1, 2)
