"""Which format a file has, told by what it is called and by its first bytes."""

from __future__ import annotations

import os
import stat

from rankscope.errors import FormatError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Format: TypeAlias = Literal["trec", "csv", "tsv", "jsonl", "parquet", "arrow", "letor"]

FORMATS: dict[str, tuple[str, ...]] = {
    "trec": (),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".feather", ".ipc"),
    "letor": (".letor", ".svm", ".svmlight"),
}
"""By format, how the names of its files end; everything else is TREC text."""

TEXTS = {"csv", "tsv", "jsonl", "letor"}
PACKINGS = (".gz", ".zst", ".bz2")
MAGIC = ((b"PAR1", "parquet", "a Parquet file"), (b"ARROW1", "arrow", "an Arrow file"))


def check_format(given: str | None) -> None:
    """Refuse a format that is none.

    Raises:
        UsageError: It is none.
    """
    if given is not None and given not in FORMATS:
        raise UsageError(
            f"expected one of {', '.join(FORMATS)} as the format, found {given!r}",
            hint="leave it out, to tell it by the name of the file",
            code="bad_format",
        )


def tell_format(path: str) -> Format:
    """Tell the format of a file by how its name ends; a packed text by what stands before.

    Examples:
        >>> [tell_format(name) for name in ("a.CSV", "a.jsonl.gz", "a.parquet.gz", "csv")]
        ['csv', 'jsonl', 'trec', 'trec']
    """
    name = path.lower()
    for packing in PACKINGS:
        if name.endswith(packing):
            inner = _by_extension(name.removesuffix(packing))
            return inner if inner in TEXTS else "trec"
    return _by_extension(name)


def _by_extension(name: str) -> Format:
    for form, extensions in FORMATS.items():
        if name.endswith(extensions):
            return form  # type: ignore[return-value]  # a key of the table
    return "trec"


def list_files(path: str) -> list[str]:
    """Give the files of tables that a folder or a pattern means, by name; none if it means none.

    Raises:
        FormatError: They are of several formats.
    """
    # pathlib and glob take long to load; a path of one file needs neither.
    if os.path.isdir(path):  # noqa: PTH112
        found = [
            os.path.join(folder, name)  # noqa: PTH118
            for folder, _, names in os.walk(path)
            for name in names
            if not name.startswith((".", "_"))
        ]
    elif _is_pattern(path):
        from glob import glob  # noqa: PLC0415 - as above

        found = glob(path, recursive=True)  # noqa: PTH207
    else:
        return []
    files = sorted(name for name in found if tell_format(name) != "trec")
    formats = {tell_format(name): name for name in reversed(files)}
    if len(formats) > 1:
        (one, first), (other, second) = list(formats.items())[:2]
        raise FormatError(
            f"expected files of one format, found {first} ({one}) and {second} ({other})",
            hint="name the files of one of them: 'folder/*.parquet'",
            code="schema_mismatch",
            file=path,
        )
    return files


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[") and not os.path.lexists(path)


def refuse_binary(path: str) -> None:
    """Refuse a file that is called a text, and is a table of columns by its first bytes.

    Raises:
        FormatError: It is one; the hint names its format.
    """
    try:
        # Looking into a pipe would take from it what is to be read.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - as above
            return
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(8)
    except (OSError, ValueError):
        return  # reading it will say why
    for magic, form, name in MAGIC:
        if head.startswith(magic):
            raise FormatError(
                f"expected lines of text, found {name}",
                hint=f"say what it is: format={form!r}, or --format {form}",
                code="not_text",
                file=path,
                line=1,
            )


def size_of(given: str | bytes) -> int:
    """The size in bytes of a file, or of all files of a folder or a pattern; 0 of what has none."""
    if isinstance(given, bytes):
        return len(given)
    files = list_files(given) or [given]
    try:
        return sum(os.stat(file).st_size for file in files)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return 0  # reading it will say why
