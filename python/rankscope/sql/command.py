"""`rankscope sql`: writes measures as SQL for a warehouse."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rankscope._cli.options import add_measures_option, add_policy_option, read_pairs
from rankscope._cli.parser import Parser, read_integer
from rankscope._evaluate.command import DEFAULT_MEASURES
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.sql.compute import write_sql
from rankscope.sql.statements import SqlStatements

ROLES = ("query", "doc", "relevance", "score", "rank")
OF_ONE_TABLE = ("qrels.query", "qrels.doc", "run.query", "run.doc")
"""The roles of IDs that have different names in the two tables."""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_measures_option(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "--dialect",
        default="duckdb",
        metavar="NAME",
        help="dialect to write, one of: duckdb, postgres, bigquery, snowflake (default: duckdb)",
    )
    parser.add_argument("--qrels", metavar="TABLE", help="table of judgments (default: qrels)")
    parser.add_argument(
        "--run",
        metavar="TABLE",
        dest="retrieved",
        help="table of retrieved documents (default: run)",
    )
    parser.add_argument(
        "--table",
        metavar="TABLE",
        help="one table whose rows hold both grades and scores or ranks",
    )
    parser.add_argument(
        "--col",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help=f"the column to use for a role; roles: {', '.join(ROLES)}; if the two tables have "
        f"different names for IDs, {', '.join(OF_ONE_TABLE)}; with --table, `--col doc=` means "
        "that there are no document IDs (default: query_id, doc_id, relevance, score)",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="compute the means for each value of this query attribute, or each combination of "
        "several",
    )
    add_policy_option(parser)
    parser.add_argument(
        "--duplicates",
        choices=("error", "max"),
        metavar="RULE",
        help="what to do if a document appears twice in a query (default: error)",
    )
    parser.add_argument(
        "--depth",
        type=read_integer,
        default=1000,
        metavar="N",
        help="ranks with a discount where a measure has no cutoff (default: 1000)",
    )
    parser.add_argument(
        "--statement",
        default="means",
        choices=("means", "per-query", "checks"),
        metavar="NAME",
        help="statement to print",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Print a statement."""
    print(getattr(_write(options), options.statement.replace("-", "_")))
    return 0


def _write(options: Namespace) -> SqlStatements:
    measures = split_measures(options.measures or DEFAULT_MEASURES)
    columns = read_pairs(options.col, "--col", (*ROLES, *OF_ONE_TABLE), allows_nothing=True)
    settings: dict[str, Any] = {role: columns[role] for role in ROLES if role in columns}
    settings |= {"dialect": options.dialect, "by": options.by, "policy": options.policy or None}
    settings["depth"] = options.depth
    if options.table is None:
        for role in ("query", "doc"):
            pair = [columns.get(f"{part}.{role}", columns.get(role)) for part in ("qrels", "run")]
            if any(pair):
                default = f"{role}_id".upper() if options.dialect == "snowflake" else f"{role}_id"
                settings[role] = tuple(name or default for name in pair)
        qrels = "qrels" if options.qrels is None else options.qrels
        retrieved = "run" if options.retrieved is None else options.retrieved
        settings["duplicates"] = options.duplicates or "error"
        return write_sql(qrels, retrieved, measures, **settings)
    for name, value in (
        ("--qrels", options.qrels),
        ("--run", options.retrieved),
        ("--duplicates", options.duplicates),
        *((f"--col {role}", columns.get(role)) for role in OF_ONE_TABLE),
    ):
        if value is not None:
            raise UsageError(
                f"--table holds judgments and the run, found {name} as well",
                hint=f"remove {name}, or --table",
                code="usage",
            )
    if settings.get("doc") == "":
        settings["doc"] = False
    return write_sql(options.table, measures, **settings)
