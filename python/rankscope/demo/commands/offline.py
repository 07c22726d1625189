"""`rankscope demo --offline`: evaluates two rankers on a generated search log with known facts."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path

import rankscope as rs
from rankscope.demo.commands.search_log import SearchLog, make_search_log
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
