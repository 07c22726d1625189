"""The options of measures of recommended items: the history, the attributes and the catalogue."""

from __future__ import annotations

import rankscope as rs
from rankscope.cli.files import read_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser
    from rankscope.inputs.items import Items

NAMES = ("history", "items", "catalogue")


def add_items_options(parser: Parser) -> None:
    """Add the options."""
    group = parser.add_argument_group("Options for measures of recommended items")
    group.add_argument(
        "--history",
        metavar="FILE",
        help="interactions before the recommendations: a table with columns of users and items, or "
        "a file like the judgments; for Novelty, AvgPopularity, Serendipity and Miscalibration",
    )
    group.add_argument(
        "--items",
        metavar="FILE",
        help="table with a column of items, and their attributes in the others; for ILD, "
        "Miscalibration and AWRF",
    )
    group.add_argument(
        "--catalogue",
        metavar="FILE",
        help="the items that can be recommended: a table with a column of items, or a text file "
        "with one item in each line (default: those of --items, or else of --history); for "
        "Coverage, Gini, Entropy and Serendipity",
    )


def name_items(options: Namespace) -> dict[str, str | None]:
    """Return the file of each option."""
    return {name: getattr(options, name, None) for name in NAMES}


def list_items_files(options: Namespace) -> list[str]:
    """Return the files that the options name."""
    return [path for path in name_items(options).values() if path]


def read_items(options: Namespace) -> Items | None:
    """Read the files of the options; `None` if there are none."""
    given = name_items(options)
    if not any(given.values()):
        return None
    named = {role: name for role, name in read_columns(options).items() if role in {"query", "doc"}}
    return rs.read_items(**given, columns=named, encoding=options.encoding)
