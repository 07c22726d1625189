"""The rows are complete and consistent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from rankscope.conventions import TABLE, Convention, find
from rankscope.errors import UsageError
from rankscope.measures import TABLE as MEASURES
from rankscope.measures import Measure
from rankscope.measures.table import measure
from rankscope.settings.policy import FIELDS, Policy

GOLDEN = Path(__file__).resolve().parents[1] / "parity" / "golden"
RUN_HERE = {"trec_eval@9.0.8", "pytrec_eval@0.5.11", "ir_measures@0.4.3", "gdeval@1.2a"}
"""Those whose library the tests run beside ours, in place of keeping what it said."""

rows = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)


def golden_files() -> dict[str, dict[str, object]]:
    """What libraries said, by convention."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.json"))
    return {said["convention"]: said for said in files if "convention" in said}


def test_addresses_differ() -> None:
    assert {
        address: n for address, n in Counter(row.address for row in TABLE).items() if n > 1
    } == {}


@rows
def test_a_row_says_what_it_is_and_is_found_by_its_address(row: Convention) -> None:
    assert find(row.address) is row
    sentences = [row.summary, *row.notes, *(bug.says for bug in row.bugs)]
    assert all(text[0].isupper() and text[-1] == "." for text in sentences)
    assert row.sources
    assert row.forms


@rows
def test_the_forms_the_policy_and_the_options_of_a_row_are_those_of_measures(
    row: Convention,
) -> None:
    assert {"ties", "empty", "missing", "negative"} <= row.policy.keys()
    parameters = set()
    for form in row.forms:
        names = {parameter.name for parameter in MEASURES[form.measure].parameters}
        assert set(form.takes) & set(form.settings) == set()
        assert {*form.settings, *(set(form.takes) - {"k"})} <= names
        assert isinstance(measure(form.measure)(**form.settings), Measure)
        Policy(**{**row.policy, **form.policy})  # type: ignore[arg-type]  # the test is that it is
        parameters |= names
    for option in row.options:
        assert option.field in {*FIELDS, *parameters}
        if option.field in FIELDS:
            for value in option.values:
                Policy(**{option.field: value})  # type: ignore[arg-type]  # as above


@rows
def test_a_row_is_verified_where_the_library_was_run(row: Convention) -> None:
    said = golden_files().get(row.name)
    was_run = row.address in RUN_HERE or (said is not None and said["version"] == row.version)
    assert row.verified == ("run" if was_run else "read from source")


def test_a_bare_name_is_the_newest_version_that_was_run() -> None:
    assert find("trec_eval").version == "9.0.8"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lightgmb", "did you mean lightgbm?"),
        ("trec_eval@11", "the known versions are trec_eval@9.0.8 and trec_eval@10.0"),
        (3, "write 'trec_eval' or 'lightgbm@4.7.0'"),
    ],
)
def test_an_unknown_name_is_refused(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(name)
    assert caught.value.code == "unknown_convention"
    assert caught.value.hint == hint
