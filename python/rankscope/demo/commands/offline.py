"""`rankscope demo --offline`: evaluates two rankers on a generated search log with known facts."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import rankscope as rs
from rankscope.errors import UsageError
from rankscope.output.text import format_value, show
from rankscope.writing import make_folder, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping


MEASURES = ("nDCG@10", "AP", "RR", "P@5", "R@20", "Judged@10")
PAGE = "rankscope-demo.html"
SEED = 1


def run(options: Namespace) -> int:
    """Make the log, evaluate both runs, and print what was found."""
    seed = SEED if options.seed is None else options.seed
    log = make_search_log(seed)
    if options.keep is not None:
        folder = Path(options.keep)
        paths = _show(log, folder, seed)
        _report(paths, folder / PAGE if options.page is None else Path(options.page))
        return 0
    with tempfile.TemporaryDirectory(prefix="rankscope-demo-") as name:
        paths = _show(log, Path(name), seed)
        # The files are deleted, so the report gets their contents.
        contents = {file: path.read_bytes() for file, path in paths.items()}
    _report(contents, Path(PAGE if options.page is None else options.page))
    return 0


def _report(files: Mapping[str, Path | bytes], page: Path) -> None:
    qrels, *runs = files
    found = rs.report(files[qrels], {name: files[name] for name in runs}, MEASURES)
    try:
        found.write(page)
    except UsageError as error:  # Jinja is not installed
        print(f"report: not written, because Jinja is not installed; {error.hint}")
    else:
        print(f"report: {show(str(page))}")


def _show(log: SearchLog, folder: Path, seed: int) -> dict[str, Path]:
    paths = write_files(log, folder)
    qrels = rs.read_qrels(paths["qrels.txt"])
    old, new = (rs.evaluate(qrels, paths[name], MEASURES) for name in ("old.run", "new.run"))
    facts = log.facts
    print(f"A search log with {facts.queries} judged queries and two rankers (seed {seed})\n")
    print("$ rankscope eval qrels.txt old.run new.run\n")
    print(f"{'measure':<10} {'old':>8} {'new':>8} {'change':>8}")
    for name in old:
        change = new[name] - old[name]
        print(
            f"{name:<10} {format_value(old[name]):>8} {format_value(new[name]):>8} {change:>+8.4f}"
        )
    counts = new.counts
    print("\nData behind the means               planted  found")
    for label, planted, found in (
        ("judged queries", facts.queries, counts.queries),
        ("without a relevant document", facts.empty, counts.empty),
        ("not in the run", facts.missing, counts.missing),
        ("in the run but not judged", facts.run_only, counts.run_only),
    ):
        print(f"  {label:<32} {planted:>8} {found:>6}")
    shown, unjudged = counts.retrieved_at_k[10], counts.unjudged_at_k[10]
    print(f"  {'unjudged in the top 10':<32} {'':>8} {unjudged / shown:>6.0%}")
    print("\nnDCG@10 by country (the first part of the query id)")
    print(f"{'country':<10} {'old':>8} {'new':>8} {'change':>8}")
    before, after = mean_by_country(old), mean_by_country(new)
    for country, value in before.items():
        change = after[country] - value
        mark = "  <- planted: best documents ranked lower" * (country == facts.worse_country)
        print(f"{country:<10} {value:>8.4f} {after[country]:>8.4f} {change:>+8.4f}{mark}")
    print(f"\npolicy: {new.policy}")
    for note in new.notes:
        print(f"note: {note.sentence}")
    return paths


def mean_by_country(evaluation: rs.Evaluation) -> dict[str, float]:
    """Return the mean nDCG@10 of each country."""
    values: dict[str, list[float]] = {}
    pairs = zip(evaluation.query_texts, evaluation.per_query_list("nDCG@10"), strict=True)
    for query, value in pairs:
        values.setdefault(query.partition("-")[0], []).append(value)
    return {country: sum(of) / len(of) for country, of in sorted(values.items())}


def write_files(log: SearchLog, folder: Path) -> dict[str, Path]:
    """Write the log as TREC files, and return their paths by name."""
    make_folder(folder)
    texts = {
        "qrels.txt": [f"{query} 0 {doc} {grade}" for query, doc, grade in log.qrels],
        "old.run": list(_run_lines(log.old, "old")),
        "new.run": list(_run_lines(log.new, "new")),
    }
    for name, lines in texts.items():
        write_text(folder / name, "\n".join(lines) + "\n")
    return {name: folder / name for name in texts}


def _run_lines(rows: list[tuple[str, str, float]], tag: str) -> Iterator[str]:
    for query, group in groupby(rows, key=lambda row: row[0]):
        ranked = sorted(group, key=lambda row: -row[2])
        for rank, (_, doc, score) in enumerate(ranked, start=1):
            yield f"{query} Q0 {doc} {rank} {score} {tag}"


QUERIES = 400
DEPTH = 50
JUDGED = 12
COUNTRIES = ("de", "fr", "in", "us")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that were planted, which an evaluation must find.

    Args:
        queries: The number of judged queries.
        empty: The number of judged queries without a relevant document.
        missing: The number of judged queries that are not in the runs.
        run_only: The number of queries in the runs that are not judged.
        worse_country: The country for which the new ranker ranks the best document lower.
    """

    queries: int = QUERIES
    empty: int = 14
    missing: int = 6
    run_only: int = 9
    worse_country: str = "in"


@dataclass(slots=True)
class SearchLog:
    """Judgments and two runs, as rows.

    Args:
        facts: The facts that were planted.
        qrels: Rows of query, document and grade.
        old: Rows of query, document and score of the current ranker.
        new: Rows of query, document and score of the new ranker.
    """

    facts: Facts
    qrels: list[tuple[str, str, int]] = field(default_factory=list)
    old: list[tuple[str, str, float]] = field(default_factory=list)
    new: list[tuple[str, str, float]] = field(default_factory=list)


def make_search_log(seed: int = 1) -> SearchLog:
    """Make a search log; the same seed always makes the same log.

    Each list is ordered by the grade and some noise. The new ranker has less noise than the old
    one, except for the queries of one country, where it takes the best document for a bad one.
    """
    chance = random.Random(seed)  # noqa: S311 - nothing is secret here
    facts = Facts()
    log = SearchLog(facts)
    for number in range(facts.queries + facts.run_only):
        country = COUNTRIES[number % len(COUNTRIES)]
        query = f"{country}-{number:03}"
        docs = [f"item{chance.randrange(10**6):06}-{rank}" for rank in range(DEPTH)]
        grades = _grades(chance, is_empty=number < facts.empty)
        if number < facts.queries:
            log.qrels += [(query, doc, grade) for doc, grade in zip(docs, grades, strict=False)]
        if facts.empty <= number < facts.empty + facts.missing:
            continue
        for doc, grade in zip(docs, [*grades, *[0] * (DEPTH - len(grades))], strict=True):
            misjudged = country == facts.worse_country and grade == max(grades)
            log.old.append((query, doc, round(grade + chance.gauss(0, 1.2), 3)))
            noise = chance.gauss(-2.5 if misjudged else 0, 0.9)
            log.new.append((query, doc, round(grade + noise, 3)))
    return log


def _grades(chance: random.Random, *, is_empty: bool) -> list[int]:
    if is_empty:
        return [0] * JUDGED
    return [3, *chance.choices([0, 1, 2], weights=[6, 3, 2], k=JUDGED - 1)]
