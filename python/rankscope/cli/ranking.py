"""Ranks what the files of a command hold, whichever way they hold it."""

from __future__ import annotations

import rankscope as rs
from rankscope.adapters.files.formats import is_scores
from rankscope.adapters.inputs import name_path
from rankscope.cli.files import is_letor, name_file, refuse_stdin_twice
from rankscope.cli.joined import (
    name_table,
    rank_scores,
    rank_table,
    read_ties,
    refuse_joined_arguments,
)
from rankscope.cli.progress import ProgressBar
from rankscope.engine import read_request
from rankscope.errors import UsageError
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def rank_files(paths: list[str], measure: str, options: Namespace) -> rs.Rankings:
    """Rank judgments and a run, or one table whose rows hold both.

    Args:
        paths: The paths.
        measure: The measure that is wanted, which a convention may not have.
        options: What the options say of the files, of ties and of the convention.

    Raises:
        UsageError: An option does not fit, or there are not one or two files.
        InputError: A file is not of the format.
        FileError: A file cannot be read.
    """
    refuse_stdin_twice(paths)
    if len(paths) == 1:
        table, columns = name_table(paths[0], options)
        ties = read_ties([measure], options)
        with ProgressBar(show(name_path(paths[0], "table"))) as progress:
            return rank_table(table, columns, ties, options, progress)
    refuse_joined_arguments(options)
    if len(paths) != 2:
        raise UsageError(
            f"expected judgments and one run, found {len(paths)} files",
            hint="write QRELS RUN, or one table",
            code="usage",
        )
    qrels, run = paths
    if is_letor(qrels, options) and is_scores(run):
        return rank_scores(qrels, run, read_ties([measure], options), options)
    request = read_request(
        measure,
        options.policy if options.convention else rs.Policy.parse(options.policy),
        convention=options.convention,
        score_type=options.score_type,
        grades=[],
    )
    with ProgressBar("judgments") as progress:
        judgments = rs.read_qrels(
            name_file(qrels, "qrels", options),
            duplicates=options.duplicates,
            encoding=options.encoding,
            progress=progress,
        )
    return rs.Rankings.from_run(
        judgments,
        name_file(run, "run", options),
        ties=request.policy.ties,
        duplicates=options.duplicates,
        score_type=request.score_type,
        encoding=options.encoding,
    )
