"""`rankscope diff`: compares two runs, query by query and document by document."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import rankscope as rs
from rankscope._cli.options import (
    add_file_options,
    add_format_options,
    add_limit_option,
    add_measure_option,
    add_policy_option,
    add_reading_options,
    is_letor,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import Parser, print_csv, print_json, print_notes
from rankscope._compare.notes import describe_pair
from rankscope._compare.ranges import describe_reach
from rankscope._diff.compute import diff_rankings
from rankscope._diff.difference import DocumentMoves, RunDifference
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._evaluate.options import rank_scores, read_settings
from rankscope._inputs.files import is_scores
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._settings import ties_of
from rankscope._show.diagnostics import count_codes
from rankscope._show.table import Cell, format_value, name_rows, show
from rankscope.errors import UsageError
from rankscope.measures.parse import read_measure, split_measures

DEFAULT_MEASURE = "nDCG@10"
LIMIT = 10


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - reads standard input")
    parser.add_argument("a", metavar="RUN_A", help="the first run, such as the baseline")
    parser.add_argument("b", metavar="RUN_B", help="the second run, which is compared with it")
    about = "measure to compare; `rankscope measures` lists them"
    add_measure_option(parser, about, DEFAULT_MEASURE)
    parser.add_argument(
        "--query",
        dest="query_id",
        metavar="ID",
        help="show one query: which documents moved, and what each move gained or lost",
    )
    add_limit_option(
        parser,
        f"number of queries or documents to print (default: {LIMIT}, or all with --json or --csv)",
    )
    add_format_options(parser)
    add_policy_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope diff qrels.txt bm25.run dense.run -m nDCG@10",
        "rankscope diff qrels.txt bm25.run dense.run --query 301",
    )
    parser.set_defaults(run=run, convention=None)


def run(options: Namespace) -> int:
    """Compare the runs, and print where they differ."""
    refuse_stdin_twice([options.qrels, options.a, options.b])
    if options.limit is not None and options.limit < 0:
        raise UsageError(
            f"--limit cannot be negative, found {options.limit}",
            hint=f"remove --limit to print the first {LIMIT}",
            code="usage",
        )
    difference = compare(options)
    if options.strict:
        refuse_diagnostics(difference.notes)
    print_notes(difference.notes)
    moves = None if options.query_id is None else difference.explain(options.query_id)
    if options.json:
        _print_json(difference, moves, options.limit)
    elif options.csv:
        table = difference.queries if moves is None else moves.table
        rows = [["" if cell is None else cell for cell in row] for row in table.rows()]
        print_csv([table.names, *rows[: options.limit]])
    elif moves is None:
        _print_queries(difference, LIMIT if options.limit is None else options.limit)
    else:
        _print_moves(difference, moves, LIMIT if options.limit is None else options.limit)
    return 0


def compare(options: Namespace) -> RunDifference:
    """Return the difference of the runs that the options name."""
    runs = [options.a, options.b]
    measures = split_measures([options.measure])
    names = shorten_names([name_path(path, "run") for path in runs])
    if is_letor(options.qrels, options) and all(map(is_scores, runs)):
        ties = read_settings(measures, options).request(ties="average").ties
        policy = rs.Policy.parse(options.policy, rs.Policy(ties=ties))
        ties = ties_of(policy)
        one, other = (
            rank_scores(options.qrels, path, ties, options, names_rows=True) for path in runs
        )
        return diff_rankings(
            (one, other), read_measure(measures), policy, (names[0], names[1]), options.threads
        )
    return rs.diff(
        name_file(options.qrels, "qrels", options),
        name_file(runs[0], "run", options),
        name_file(runs[1], "run", options),
        measures[0] if len(measures) == 1 else measures,  # type: ignore[arg-type]  # is refused there
        policy=rs.Policy.parse(options.policy),
        names=(names[0], names[1]),
        duplicates=options.duplicates,
        ignore_same=options.ignore_same,
        score_type=options.score_type or "float64",
        encoding=options.encoding,
        threads=options.threads,
    )


def _print_queries(difference: RunDifference, limit: int) -> None:
    """Print the means, the queries that changed most, and how many were won and lost."""
    terms = [name for name in difference.terms if difference.says(name)]
    names = [*difference.names, "difference", *terms]
    print("measure", "query", *_heads(difference), "difference", *terms, sep="\t")
    means = [*difference.values, difference.difference, *map(difference.terms.get, terms)]
    print(difference.measure, "all", *map(_write, means), sep="\t")
    rows = zip(*(difference.queries.column(name) for name in ["query_id", *names]), strict=True)
    moved = min(limit, difference.wins + difference.losses)
    for query, *cells in list(rows)[:moved]:
        print(difference.measure, show(str(query)), *map(_write, cells), sep="\t")
    lines: list[tuple[str, object]] = [
        (word, getattr(difference, word)) for word in ("wins", "ties", "losses")
    ]
    if difference.comparison is not None:
        lines += describe_pair(difference.comparison)
    for name, value in lines:
        print(name, value, sep="\t")
    for line in describe_reach(difference.unjudged, difference.tied):
        print(line)


def _print_moves(difference: RunDifference, moves: DocumentMoves, limit: int) -> None:
    """Print the documents that moved, those that gained or lost most first, and their sum."""
    names = moves.table.names
    has_gains = "gained" in names
    print("document", "grade", *_heads(difference), "move", *names[5:], sep="\t")
    rows = name_rows(moves.table)
    moved = [row for row in rows if row["move"] != "same" or row.get("gained")]
    for row in moved[:limit]:
        ranks = [_write_rank(row[name]) for name in ("grade", "rank_a", "rank_b")]
        gained = [_write(row["gained"])] if has_gains else []
        print(show(str(row["doc_id"])), *ranks, row["move"], *gained, sep="\t")
    others = moved[limit:]
    if others:
        gained = [_write(sum(float(row["gained"] or 0) for row in others))] if has_gains else []
        print(f"{len(others)} others", "", "", "", "", *gained, sep="\t")
    values = map(format_value, moves.values)
    print(difference.measure, "", *values, "", _write(moves.difference), sep="\t")


def _print_json(difference: RunDifference, moves: DocumentMoves | None, limit: int | None) -> None:
    document = difference.to_dict()
    queries = document.pop("queries")
    if moves is None:
        document["queries"] = queries[:limit]  # type: ignore[index]  # a list
    else:
        of_query = moves.to_dict()
        of_query["documents"] = of_query["documents"][:limit]  # type: ignore[index]  # a list
        document["query"] = of_query
    document["diagnostics"] = count_codes(difference.notes)
    print_json(document)


def _heads(difference: RunDifference) -> Sequence[str]:
    return [show(name) for name in difference.names]


def _write(number: Cell) -> str:
    return format_value(float(number)) if isinstance(number, int | float) else ""


def _write_rank(number: Cell) -> str:
    return "–" if number is None else f"{number:.15g}"
