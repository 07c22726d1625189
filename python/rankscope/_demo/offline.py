"""`rankscope demo --offline`: evaluates two rankers on a generated search log with known facts."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random

import rankscope as rs
from rankscope._show.table import Table, show
from rankscope._writing import make_folder, write_text
from rankscope.errors import UsageError

MEASURES = ("nDCG@10", "AP", "RR", "P@5", "R@20", "Judged@10")
PAGE = "rankscope-demo.html"
SEED = 1

QUERIES = 400
EMPTY = 14
"""The number of judged queries without a relevant document."""

MISSING = 6
"""The number of judged queries that are not in the runs."""

RUN_ONLY = 9
"""The number of queries in the runs that are not judged."""

DEPTH = 50
JUDGED = 12
COUNTRIES = ("de", "fr", "in", "us")
WORSE = "in"
"""The country for which the new ranker ranks the best document lower."""


def run(options: Namespace) -> int:
    """Make the log, evaluate both runs, and print what was found."""
    seed = SEED if options.seed is None else options.seed
    with ExitStack() as stack:
        folder = options.keep
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankscope-demo-"))
        make_folder(Path(folder))
        paths = {}
        for name, lines in make_search_log(seed).items():
            paths[name] = Path(folder) / name
            write_text(paths[name], "\n".join(lines) + "\n")
        _show(paths, seed)
        # The files of a temporary folder are deleted, so the report gets their contents.
        is_kept = options.keep is not None
        files = {name: path if is_kept else path.read_bytes() for name, path in paths.items()}
        page = Path(folder if is_kept else "") / PAGE if options.page is None else options.page
        _report(files, Path(page))
    return 0


def _report(files: Mapping[str, Path | bytes], page: Path) -> None:
    qrels, *runs = files
    report = rs.report(files[qrels], {name: files[name] for name in runs}, MEASURES)
    try:
        report.write(page)
    except UsageError as error:  # Jinja is not installed
        print(f"report: not written, because Jinja is not installed; {error.hint}")
    else:
        print(f"report: {show(str(page))}")


def _show(paths: Mapping[str, Path], seed: int) -> None:
    qrels = rs.read_qrels(paths["qrels.txt"])
    old, new = (rs.evaluate(qrels, paths[name], MEASURES) for name in ("old.run", "new.run"))
    counts = new.counts
    before, after = mean_by_country(old), mean_by_country(new)
    print(f"A search log with {QUERIES} judged queries and two rankers (seed {seed})\n")
    print("$ rankscope eval qrels.txt old.run new.run\n")
    print(_compare("measure", dict(old), dict(new)))
    print("\nData behind the means")
    print(
        Table(
            {
                "queries": [
                    "judged queries",
                    "without a relevant document",
                    "not in the run",
                    "in the run but not judged",
                ],
                "planted": [QUERIES, EMPTY, MISSING, RUN_ONLY],
                "found": [counts.queries, counts.empty, counts.missing, counts.run_only],
            }
        )
    )
    unjudged = counts.unjudged_at_k[10] / counts.retrieved_at_k[10]
    print(f"unjudged in the top 10: {unjudged:.0%}")
    print("\nnDCG@10 by country (the first part of the query id)")
    print(_compare("country", before, after))
    print(f"planted: in the country {WORSE}, the new ranker ranks the best documents lower")
    print(f"\npolicy: {new.policy}")
    for note in new.notes:
        print(f"note: {note.sentence}")


def _compare(name: str, old: Mapping[str, float], new: Mapping[str, float]) -> Table:
    changes = [f"{new[key] - value:+.4f}" for key, value in old.items()]
    return Table({name: [*old], "old": [*old.values()], "new": [*new.values()], "change": changes})


def mean_by_country(evaluation: rs.Evaluation) -> dict[str, float]:
    """Return the mean nDCG@10 of each country."""
    values: dict[str, list[float]] = {}
    pairs = zip(evaluation.query_texts, evaluation.per_query_list("nDCG@10"), strict=True)
    for query, value in pairs:
        values.setdefault(query.partition("-")[0], []).append(value)
    return {country: sum(of) / len(of) for country, of in sorted(values.items())}


def make_search_log(seed: int) -> dict[str, list[str]]:
    """Make judgments and two runs as lines of TREC files; the same seed always makes the same ones.

    Each list is ordered by the grade and some noise. The new ranker has less noise than the old
    one, except for the queries of one country, where it takes the best document for a bad one.
    """
    chance = Random(seed)  # noqa: S311 - nothing is secret here
    log: dict[str, list[str]] = {"qrels.txt": [], "old.run": [], "new.run": []}
    for number in range(QUERIES + RUN_ONLY):
        country = COUNTRIES[number % len(COUNTRIES)]
        query = f"{country}-{number:03}"
        docs = [f"item{chance.randrange(10**6):06}-{rank}" for rank in range(DEPTH)]
        grades = [0] * JUDGED
        if number >= EMPTY:
            grades = [3, *chance.choices([0, 1, 2], weights=[6, 3, 2], k=JUDGED - 1)]
        if number < QUERIES:
            judged = zip(docs, grades, strict=False)
            log["qrels.txt"] += [f"{query} 0 {doc} {grade}" for doc, grade in judged]
        if EMPTY <= number < EMPTY + MISSING:
            continue
        old, new = {}, {}
        for doc, grade in zip(docs, [*grades, *[0] * (DEPTH - JUDGED)], strict=True):
            is_misjudged = country == WORSE and grade == max(grades)
            old[doc] = round(grade + chance.gauss(0, 1.2), 3)
            new[doc] = round(grade + chance.gauss(-2.5 if is_misjudged else 0, 0.9), 3)
        for tag, scores in (("old", old), ("new", new)):
            ranked = sorted(scores, key=lambda doc: -scores[doc])
            log[f"{tag}.run"] += [
                f"{query} Q0 {doc} {rank} {scores[doc]} {tag}"
                for rank, doc in enumerate(ranked, start=1)
            ]
    return log
