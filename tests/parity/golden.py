"""What the peers said, as `make parity` wrote it, and the input that they were given."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


@dataclass(frozen=True, slots=True)
class Case:
    """Judgments and a run; the order of a dict is that of the input."""

    about: str
    complete: bool
    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a library said about one measure on one case; `None` where it said nothing."""

    mean: float | None
    per_query: list[float | None] | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a library raised; without queries, for the whole case."""

    case: str
    error: str
    message: str
    measures: list[str]
    queries: list[str]


@dataclass(frozen=True, slots=True)
class Golden:
    """The answers of one library under one convention; `parity/answers.py` has the fields."""

    library: str
    version: str
    convention: str
    variant: str
    verified: str
    way: str
    precision: str
    arbitrary_above: dict[str, int]
    options: dict[str, str]
    mean_over: str
    notes: list[str]
    cases: dict[str, dict[str, Answer]]
    refusals: list[Refusal]

    @property
    def said(self):
        return "-".join(filter(None, (self.convention, self.variant)))

    def refuses(self, case, measure, query):
        """Whether the library raised an error for one query."""
        return any(
            refusal.case == case and measure in refusal.measures and query in refusal.queries
            for refusal in self.refusals
        )

    def is_arbitrary(self, measure, scores):
        """Whether the library leaves the order of some documents of a list to chance."""
        has_ties = len(set(scores.values())) < len(scores)
        stable = self.arbitrary_above.get(measure.partition("@")[0], len(scores))
        return has_ties and len(scores) > stable


def read_cases():
    written = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
    return {name: Case(**fields) for name, fields in written.items()}


def read_golden():
    """The golden files by convention, and by variant where it has several."""
    paths = sorted(path for path in FOLDER.glob("*.json") if path.stem != "cases")
    return {path.stem: read_answers(json.loads(path.read_text(encoding="utf-8"))) for path in paths}


def read_answers(fields):
    """What one library said, as `parity/answers.py` writes it."""
    cases, refusals = fields.pop("cases"), fields.pop("refusals")
    assert isinstance(cases, dict)
    assert isinstance(refusals, list)
    return Golden(
        cases={
            case: {measure: Answer(**answer) for measure, answer in row.items()}
            for case, row in cases.items()
        },
        refusals=[Refusal(**refusal) for refusal in refusals],
        **fields,
    )
