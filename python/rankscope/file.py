"""Files: the table of formats, and a file whose name doesn't say enough."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    Format: TypeAlias = Literal["trec", "csv", "tsv", "jsonl", "parquet", "arrow", "letor"]
    EventFormat: TypeAlias = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow"]


@record(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format of files: its row in the table is all that other modules know about it.

    Args:
        name: Its name, as in `--format`.
        endings: How the names of its files end.
        reader: The module and the class in `rankscope._inputs` that read it as a table;
            empty for what is read otherwise: TREC by the core, one JSON text by the monitor.
        is_text: Whether it is text, which can be compressed.
        magic: The bytes that files begin with, where they do.
        noun: What messages call such a file, where it has such bytes.
        has_tables: Whether judgments, runs and tables can be in it.
        has_events: Whether events of the monitor can be in it.
        description: What the documentation says about it.
    """

    name: str
    endings: tuple[str, ...] = ()
    reader: str = ""
    is_text: bool = True
    magic: bytes = b""
    noun: str = ""
    has_tables: bool = True
    has_events: bool = True
    description: str = ""


FORMATS: dict[str, FileFormat] = {
    row.name: row
    for row in (
        FileFormat(
            name="trec", description="the TREC formats, optionally compressed", has_events=False
        ),
        FileFormat(
            name="csv",
            description="text with a header line and commas, optionally compressed",
            endings=(".csv",),
            reader="delimited:DelimitedFile",
        ),
        FileFormat(
            name="tsv",
            description="text with a header line and tabs, optionally compressed. Without a "
            "known column name in its first line, it is read as TREC.",
            endings=(".tsv",),
            reader="delimited:DelimitedFile",
        ),
        FileFormat(
            name="jsonl",
            description="one JSON object per line, optionally compressed",
            endings=(".jsonl", ".ndjson"),
            reader="json_lines:JsonLinesFile",
        ),
        FileFormat(
            name="json",
            description="one JSON list of objects, or one object, for events only",
            endings=(".json",),
            has_tables=False,
        ),
        FileFormat(
            name="parquet",
            description="Parquet. A folder, or a pattern such as `logs/*.parquet`, "
            "is read as one table.",
            endings=(".parquet",),
            reader="columnar:ParquetFile",
            is_text=False,
            magic=b"PAR1",
            noun="a Parquet file",
        ),
        FileFormat(
            name="arrow",
            description="Arrow, in the file or the stream format",
            endings=(".arrow", ".feather", ".ipc"),
            reader="columnar:ArrowFile",
            is_text=False,
            magic=b"ARROW1",
            noun="an Arrow file",
        ),
        FileFormat(
            name="letor",
            description="SVMlight text with `qid:`. Document IDs are read from comments such as "
            "`# docid = d1`; if no row has features, also from `# d1 title`. Text without a known "
            "ending is recognized by its first row.",
            endings=(".letor", ".svm", ".svmlight"),
            reader="letor_file:LetorFile",
            has_events=False,
        ),
    )
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


@record(frozen=True, slots=True)
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
    columns: Mapping[str, str] = {}


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
        if row.endings and inner.endswith(row.endings) and (row.is_text or not compression):
            return form
    return None
