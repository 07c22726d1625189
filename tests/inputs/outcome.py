"""What comes of an evaluation: values and notes, or an error, and never both."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cache, partial

import rankscope as rs
from rankscope.measures import parse

from tests.inputs.entry import QRELS_ROWS, RUN_ROWS
from tests.reference import Retrieved, rank, value
from tests.refusals import refused

Values = dict[str, dict[str, float]]

is_refused = partial(refused, message="expected")
"""Hold a refusal against what all of an input have in common."""

MEASURES = ("nDCG@10", "AP", "RR", "P@5", "Judged@10")
ONLY_IN_TEXT = {
    "bom",
    "blank_lines",
    "comments",
    "rank_score_disagree",
    "rank_irregular",
    "multiple_tags",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: values by query and notes, or what the error says."""

    by_query: Values = field(default_factory=dict)
    notes: frozenset[str] = frozenset()
    code: str = ""
    location: str = ""
    line: int | None = None
    column: int | None = None
    hint: str = ""
    message: str = ""


SAID = ("code", "location", "line", "column", "hint", "message")


def outcome_of(evaluate):
    """Evaluate, and say what came of it."""
    try:
        evaluation = evaluate()
    except rs.errors.RankscopeError as error:
        return Outcome(**{name: getattr(error, name) for name in SAID})
    return Outcome(evaluation.to_dict(), frozenset(evaluation.diagnostics))


def outcome_of_json(done):
    """Read the one document that the program printed."""
    document = json.loads(done.stdout)
    if "error" not in document:
        assert done.returncode == 0, done
        return Outcome(document["per_query"], frozenset(document["diagnostics"]))
    assert document.keys() == {"error"}
    assert done.returncode in {3, 4}, done
    said = document["error"] | {"location": document["error"]["file"]}
    return Outcome(**{name: said[name] for name in SAID})


def expected_values(qrels, run):
    """Compute the values of all judged queries by the definitions of the measures."""
    grades = {}
    for query, doc, grade in qrels:
        grades.setdefault(query, {})[doc] = grade
    lists = {}
    for query, doc, score in run:
        grade = grades.get(query, {}).get(doc)
        lists.setdefault(query, []).append(Retrieved(doc, score, grade))
    return {
        str(query): {
            name: _defined(name, lists.get(query, []), judged.values()) for name in MEASURES
        }
        for query, judged in grades.items()
    }


@cache
def values_of(entry):
    if entry.code:
        return None
    qrels = QRELS_ROWS if entry.judged is None else entry.judged
    rows = (entry.rows, RUN_ROWS) if entry.role == "qrels" else (qrels, entry.rows)
    return expected_values(*rows)


def name_case(value):
    """Name a parameter of a test."""
    return value if isinstance(value, str) else value.id.replace(" ", "_")


def _defined(name, retrieved, judged):
    kernel, params = parse(name).kernel_spec()
    ranking = [document.grade for document in rank(retrieved)]
    computed = value(kernel, params, ranking, list(judged))
    return 0.0 if math.isnan(computed) else computed


def check(entry, found, expected, name):
    """Hold an outcome against its entry, the values, and what a message must call the input."""
    assert found.code == entry.code, found
    if not entry.code:
        assert found.by_query == expected
        return
    assert not found.by_query
    assert name in found.location
    assert found.hint, found
    assert entry.hint in found.hint
    assert found.message.startswith("expected")
    assert "\0" not in found.message + found.hint
    assert len(found.message) < 1000
