"""The input of all peers: generated from a fixed seed, with the standard library only.

Grades are whole numbers and scores are halves and eighths, so that every library holds them
exactly, also in single precision. The order of a dict is the order of the input; it is neither that
of the scores nor that of the ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATH = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "cases.json"
SEED = 20261121
QUERIES = 40
MOST_DOCUMENTS = 30
UNUSUAL_GRADES = {"negative": -1, "fractional": 1.5, "large": 31, "larger": 32}
GRADES = (0, 0, 0, 1, 1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Case:
    """Judgments and a run.

    Args:
        name: Its name.
        about: What it is about.
        complete: Whether every judged document is retrieved, and every retrieved one judged, so
            that lists of grades and scores say the same.
        qrels: By query, the grade of each judged document.
        run: By query, the score of each retrieved document.
    """

    name: str
    about: str
    complete: bool
    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]

    def grades(self, query: str) -> list[float]:
        """Return the grades of the retrieved documents, in the order of the run."""
        return [self.qrels[query][document] for document in self.run[query]]

    def scores(self, query: str) -> list[float]:
        """Return the scores of the retrieved documents, in the order of the run."""
        return list(self.run[query].values())

    def ranked(self, query: str) -> list[str]:
        """Return the retrieved documents by descending score, equal scores as in the run."""
        scores = self.run.get(query, {})
        return sorted(scores, key=scores.__getitem__, reverse=True)

    def relevant(self, query: str) -> list[str]:
        """Return the documents with a grade above 0, in the order of the judgments."""
        return [document for document, grade in self.qrels.get(query, {}).items() if grade > 0]

    def queries(self) -> list[str]:
        """Return the queries of the judgments, then those that only the run has."""
        return list(dict.fromkeys([*self.qrels, *self.run]))


def generate(seed: int = SEED) -> list[Case]:
    """Make all cases; the same ones every time.

    Args:
        seed: Other seeds give other cases of the same kinds.

    Returns:
        The cases, those of unusual grades last.
    """
    make = partial(_complete, seed)
    return [
        make("graded", "complete lists of 1 to 30 documents, grades 0 to 4, no equal scores"),
        make("tied", "the same with many equal scores", scores=_tied),
        make("empty", "a third of the queries has no relevant document", empty=1 / 3),
        make("binary", "grades 0 and 1", grades=(0, 0, 1)),
        make(
            "binary_tied",
            "grades 0 and 1, many equal scores, a third of the queries has no relevant document",
            grades=(0, 0, 1),
            scores=_tied,
            empty=1 / 3,
        ),
        make(
            "logits",
            "grades 0 and 1, half of the scores below 0",
            grades=(0, 0, 1),
            scores=_signed,
        ),
        make("short", "lists of 1 to 4 documents, below most cutoffs", sizes=range(1, 5)),
        make(
            "matrix",
            "20 documents a query, equal scores, some queries without relevant documents",
            scores=_tied,
            sizes=(20,),
            empty=1 / 8,
        ),
        _split(seed),
        _tiny(),
        _tiny_lists(),
        *(_unusual(name, grade) for name, grade in UNUSUAL_GRADES.items()),
    ]


def read() -> list[Case]:
    """Read the cases that were written."""
    written = json.loads(PATH.read_text(encoding="utf-8"))
    return [Case(name, **fields) for name, fields in written.items()]


def render(cases: list[Case]) -> str:
    """Write cases as JSON, a line a query."""
    texts = []
    for case in cases:
        parts = [f'"about": {json.dumps(case.about)}', f'"complete": {json.dumps(case.complete)}']
        for column, by_query in (("qrels", case.qrels), ("run", case.run)):
            lines = (
                f"   {json.dumps(query)}: {json.dumps(row)}" for query, row in by_query.items()
            )
            parts.append(f'"{column}": {{\n' + ",\n".join(lines) + "}")
        texts.append(f'"{case.name}": {{\n  ' + ",\n  ".join(parts) + "}")
    return "{" + ",\n".join(texts) + "}\n"


def _distinct(random: Random, count: int) -> list[float]:
    return [step / 8 for step in random.sample(range(1, 400), count)]


def _tied(random: Random, count: int) -> list[float]:
    return [random.randint(1, 1 + count // 3) / 2 for _ in range(count)]


def _signed(random: Random, count: int) -> list[float]:
    return [score - 25 for score in _distinct(random, count)]


def _complete(
    seed: int,
    name: str,
    about: str,
    *,
    grades: tuple[int, ...] = GRADES,
    scores: Callable[[Random, int], list[float]] = _distinct,
    sizes: Sequence[int] = range(1, MOST_DOCUMENTS + 1),
    empty: float = 0,
) -> Case:
    random = Random(f"{seed} {name}")
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(QUERIES):
        query, count = f"q{number}", random.choice(sizes)
        documents = _documents(random, count)
        judged = random.choices(grades, k=count)
        judged[random.randrange(count)] = max(1, random.choice(grades))
        if random.random() < empty:
            judged = [0] * count
        judgments = dict(zip(documents, judged, strict=True))
        qrels[query] = {one: judgments[one] for one in random.sample(documents, count)}
        run[query] = dict(zip(documents, scores(random, count), strict=True))
    return Case(name, about, complete=True, qrels=qrels, run=run)


def _split(seed: int) -> Case:
    """Judgments and a run that overlap in part, as in real evaluations."""
    random = Random(f"{seed} split")
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(QUERIES):
        query = f"u-{number}" if number % 2 else f"U{number}"
        documents = _documents(random, random.randint(2, MOST_DOCUMENTS))
        half = len(documents) // 2
        judged = random.sample(documents, random.randint(half, len(documents)))
        found = random.sample(documents, random.randint(1, len(documents)))
        grades = random.choices(GRADES, k=len(judged))
        grades[0] = max(1, grades[0])
        if number % 8 != 1:
            qrels[query] = dict(zip(judged, grades, strict=True))
        if number % 8 != 2:
            run[query] = dict(zip(found, _distinct(random, len(found)), strict=True))
    return Case(
        "split",
        "documents judged and not retrieved, retrieved and not judged; "
        "queries judged and not in the run, in the run and not judged",
        complete=False,
        qrels=qrels,
        run=run,
    )


def _tiny() -> Case:
    """One query with a tie, one without relevant documents, one that is not in the run."""
    return Case(
        "tiny",
        "a tie, an unjudged document, a query without relevant documents, one not in the run",
        complete=False,
        qrels={"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}},
        run={"q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.25}, "q2": {"x": 2.0, "y": 1.0}},
    )


def _tiny_lists() -> Case:
    """What a library that sees only lists makes of the tiny case."""
    return Case(
        "tiny_lists",
        "the lists of the tiny case, unjudged documents with grade 0",
        complete=True,
        qrels={"q1": {"a": 3, "b": 2, "c": 1, "d": 0, "e": 0}, "q2": {"x": 0, "y": 0}},
        run=_tiny().run,
    )


def _unusual(name: str, grade: float) -> Case:
    """One list with a grade that some libraries do not take."""
    return Case(
        name,
        f"a grade of {grade:g}",
        complete=True,
        qrels={"q": {"a": 1, "b": grade, "c": 2}},
        run={"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
    )


def _documents(random: Random, count: int) -> list[str]:
    """Ids in no order, of several lengths and both cases."""
    return [f"{random.choice('dDe')}{number}" for number in random.sample(range(3 * count), count)]
