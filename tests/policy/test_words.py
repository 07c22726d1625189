"""The words of the policy are those of the core, wherever they are written."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import get_args

import pytest
import rankscope
from rankscope import _core
from rankscope._core import EMPTY_VALUES
from rankscope.settings import policy
from rankscope.settings.policy import CHOICES, FIELDS

from dev.tables import write_words

ROOT = Path(__file__).parents[2]
NUMBERS = {"missing_gain"}
"""Fields without words."""


def literals() -> dict[str, tuple[str, ...]]:
    """Return the words of each literal type of the module, by its name in lower case."""
    tree = ast.parse(inspect.getsource(policy))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    names: dict[str, object] = {}
    exec(compile(ast.Module(block.body, []), "policy.py", "exec"), names)  # noqa: S102 - our own
    return {
        node.target.id: get_args(names[node.target.id])
        for node in block.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def test_literal_types_have_the_words_of_the_core() -> None:
    named = {"".join(part.title() for part in field.split("_")): field for field in CHOICES}
    found = {named[name]: words for name, words in literals().items()}
    assert found == {field: words for field, words in CHOICES.items() if field != "aggregate"}


def test_every_field_has_words_or_is_a_number() -> None:
    assert set(FIELDS) | {"duplicates", "score_type"} == _core.POLICY.keys() | NUMBERS
    assert all(
        meaning.endswith(".") for words in _core.POLICY.values() for meaning in words.values()
    )


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in NUMBERS])
def test_the_record_explains_every_word_and_takes_it(field: str) -> None:
    explained = inspect.getdoc(rankscope.Policy) or ""
    for word in _core.POLICY[field]:
        written = f"{word}(0.1)" if word in _core.SHARES else word
        assert f'"{written}"' in explained
        chosen = rankscope.Policy(**{field: written})
        assert chosen.to_dict()[field] == written
        assert f"{field}={written}" in str(rankscope.Policy.parse(f"{field}={written}")) or (
            word == CHOICES[field][0]
        )


@pytest.mark.parametrize("field", [field for field in CHOICES if field in FIELDS])
def test_the_message_for_another_word_lists_all(field: str) -> None:
    with pytest.raises(rankscope.PolicyError) as raised:
        rankscope.Policy(**{field: "other"})
    assert all(word in str(raised.value) for word in _core.POLICY[field])


@pytest.mark.parametrize("empty", CHOICES["empty"])
def test_undefined_values_are_those_that_the_core_lists(empty: str) -> None:
    qrels = {"q1": {"a": 0}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    if empty == "error":
        with pytest.raises(rankscope.PolicyError, match="undefined for query `q1`"):
            rankscope.evaluate(qrels, run, "RR", policy=f"empty={empty}")
        return
    values = rankscope.evaluate(qrels, run, "RR", policy=f"empty={empty}").per_query("RR")
    expected = EMPTY_VALUES.get(empty, float("nan"))
    assert values.tolist() == pytest.approx([expected, 1.0], rel=0, abs=0, nan_ok=True)


def test_the_documentation_has_a_table_for_every_field() -> None:
    page = (ROOT / "docs" / "how-numbers-are-computed.md").read_text(encoding="utf-8")
    for field in set(FIELDS) - NUMBERS:
        assert f"<!-- table: policy {field} -->" in page
        for word, meaning in _core.POLICY[field].items():
            shown = f"{word}(0.1)" if word in _core.SHARES else word
            assert f"| `{shown}` | {meaning}" in write_words(field)
