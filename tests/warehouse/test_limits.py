"""Limits of statements: just below, at and just above each of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.warehouse.inputs import check_name
from rankscope.warehouse.plan import Plan
from rankscope.warehouse.statements import name_columns

if TYPE_CHECKING:
    from typing import Any


def test_a_column_has_56_characters_at_most() -> None:
    for count in (55, 56, 57):
        measure: Any = SimpleNamespace(plain_name="x" * count, name="X")
        assert name_columns([measure]) == {"X": "x" * min(count, 56)}


def test_a_name_has_300_characters_at_most() -> None:
    for count in (1, 299, 300):
        check_name("x" * count, "a table", "postgres")
    for count in (0, 301):
        with pytest.raises(UsageError, match="expected a table as a name"):
            check_name("x" * count, "a table", "postgres")


def test_lists_have_10_000_ranks_at_most() -> None:
    for depth in (0, 1, 9_999, 10_000, 10_001):
        # No attribute has this name, which is refused after a depth that is none.
        with pytest.raises(UsageError) as refused:
            rs.sql("qrels", "run", "RR", depth=depth, by="queries")
        assert ("from 1 to 10000" in refused.value.message) == (not 1 <= depth <= 10_000)


def test_a_cutoff_beyond_10_000_is_none() -> None:
    plan: Any = SimpleNamespace(depth=1000)
    assert [Plan.reach(plan, k) for k in (9_999, 10_000, 10_001)] == [9_999, 10_000, 1000]
