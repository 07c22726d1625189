"""A file, and what its name does not say."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    Format: TypeAlias = Literal["trec", "csv", "tsv", "jsonl", "parquet", "arrow", "letor"]


@record(frozen=True, slots=True)
class File:
    r"""A file whose name does not tell its format, or whose columns have names of their own.

    Whatever takes a path takes it as well.

    Args:
        path: The path, `-` for standard input, or the bytes of a file.
        format: `trec`, `csv`, `tsv`, `jsonl`, `parquet`, `arrow` or `letor`; told by the name of
            the file where left out.
        columns: By role (`query`, `doc`, `relevance`, `score`, `rank`), the names of columns.

    Examples:
        >>> import rankscope as rs
        >>> run = rs.File(b"user,doc,score\nq1,d1,0.5\n", "csv", {"query": "user"})
        >>> rs.evaluate({"q1": {"d1": 1}}, run, "RR")["RR"]
        1.0
    """

    path: str | os.PathLike[str] | bytes
    format: Format | None = None
    columns: Mapping[str, str] = {}
