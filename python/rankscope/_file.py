"""Files: the table of formats, and a file whose name doesn't say enough."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Format: TypeAlias = Literal["trec", "csv", "tsv", "jsonl", "parquet", "arrow", "letor"]
EventFormat: TypeAlias = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow"]


class FileFormat(NamedTuple):
    """A format of files: its row in the table is all that other modules know about it.

    Binary formats have a `noun` for messages and `magic`, the bytes that their files begin with.
    Text can be compressed. `reader` is the module and the class in `rankscope._inputs` that read
    the format as a table; empty for what the core or the monitor reads.
    """

    description: str
    endings: tuple[str, ...] = ()
    reader: str = ""
    magic: bytes = b""
    noun: str = ""
    has_tables: bool = True
    has_events: bool = True

    @property
    def is_text(self) -> bool:
        """Whether it is text."""
        return not self.magic


FORMATS: dict[str, FileFormat] = {
    "trec": FileFormat("the TREC formats, optionally compressed", has_events=False),
    "csv": FileFormat(
        "text with a header line and commas, optionally compressed",
        endings=(".csv",),
        reader="delimited:DelimitedFile",
    ),
    "tsv": FileFormat(
        "text with a header line and tabs, optionally compressed. Without a known column name in "
        "its first line, it is read as TREC.",
        endings=(".tsv",),
        reader="delimited:DelimitedFile",
    ),
    "jsonl": FileFormat(
        "one JSON object per line, optionally compressed",
        endings=(".jsonl", ".ndjson"),
        reader="json_lines:JsonLinesFile",
    ),
    "json": FileFormat(
        "one JSON list of objects, or one object, for events only",
        endings=(".json",),
        has_tables=False,
    ),
    "parquet": FileFormat(
        "Parquet. A folder, or a pattern such as `logs/*.parquet`, is read as one table.",
        endings=(".parquet",),
        reader="columnar:ParquetFile",
        magic=b"PAR1",
        noun="a Parquet file",
    ),
    "arrow": FileFormat(
        "Arrow, in the file or the stream format",
        endings=(".arrow", ".feather", ".ipc"),
        reader="columnar:ArrowFile",
        magic=b"ARROW1",
        noun="an Arrow file",
    ),
    "letor": FileFormat(
        "SVMlight text with `qid:`. Document IDs are read from comments such as `# docid = d1`; if "
        "no row has features, also from `# d1 title`. Text without a known ending is recognized by "
        "its first row.",
        endings=(".letor", ".svm", ".svmlight"),
        reader="letor:LetorFile",
        has_events=False,
    ),
}
"""Every format, by name. A file whose name has none of the endings is TREC text."""

TABLE_FORMATS = tuple(name for name, row in FORMATS.items() if row.has_tables)
EVENT_FORMATS = tuple(name for name, row in FORMATS.items() if row.has_events)

COMPRESSIONS = (
    (".gz", b"\x1f\x8b", "gzip"),
    (".zst", b"\x28\xb5\x2f\xfd", "zstd"),
    (".bz2", b"BZh", "bz2"),
)
"""How names of compressed text end, what the bytes begin with, and what PyArrow calls it."""


@dataclass(frozen=True, slots=True)
class File:
    r"""A file whose name doesn't tell its format, or whose columns have names of their own.

    Every function that takes a path takes a `File`, too.

    Args:
        path: The path, which can be in a bucket (`s3://data/bm25.run`), `-` for standard input, or
            the bytes of a file.
        format: One of: `trec`, `csv`, `tsv`, `jsonl`, `parquet`, `arrow`, `letor` (default: what
            the name of the file says).
        columns: The names of columns, by role (`query`, `doc`, `relevance`, `score`, `rank`).

    Examples:
        >>> import rankscope as rs
        >>> run = rs.File(b"user,doc,score\nq1,d1,0.5\n", "csv", {"query": "user"})
        >>> rs.evaluate({"q1": {"d1": 1}}, run, "RR")["RR"]
        1.0
    """

    path: str | os.PathLike[str] | bytes
    format: Format | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


def tell_format(path: str, formats: tuple[str, ...] = TABLE_FORMATS) -> str | None:
    """Return the format that the name of a file tells, or `None` if it tells none.

    A compressed text has the format that its name tells without the ending of the compression.

    Examples:
        >>> [tell_format(name) for name in ("a.CSV", "a.jsonl.gz", "a.parquet.gz", "csv")]
        ['csv', 'jsonl', None, None]
    """
    name = path.lower()
    compression = next((end for end, _, _ in COMPRESSIONS if name.endswith(end)), "")
    inner = name.removesuffix(compression)
    for form in formats:
        row = FORMATS[form]
        if inner.endswith(row.endings) and (row.is_text or not compression):
            return form
    return None
