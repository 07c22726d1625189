"""Columns that the folders of files name, as Hive does: `country=de/part-0.parquet`."""

from __future__ import annotations

from urllib.parse import unquote

from rankscope._inputs.arrow import load_arrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rankscope._inputs.files.opening import File
    from rankscope._inputs.files.roles import Wanted
    from rankscope._inputs.text import Lines

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def read_partitions(path: str) -> dict[str, str | None]:
    """Read the columns that the folders of a path name, as Hive does.

    Examples:
        >>> read_partitions("log/date=2026-11-21/country=%C3%A9/part-0.parquet")
        {'date': '2026-11-21', 'country': 'é'}
    """
    found: dict[str, str | None] = {}
    for part in path.split("/")[:-1]:
        name, sign, value = part.partition("=")
        if name and sign:
            text = unquote(value)
            found[unquote(name)] = None if text == DEFAULT_PARTITION else text
    return found


class WantedBeside:
    """What is wanted of a file, some of which its folders name.

    Args:
        wanted: What is wanted.
        partitions: The columns that the folders of the file name.
        varying: Those of them that differ among the files that are read together. Others are only
            found by the names that the caller gives: a file in `rank=1/` has no ranks.
    """

    def __init__(
        self, wanted: Wanted, partitions: Mapping[str, str | None], varying: Sequence[str]
    ) -> None:
        given = {*wanted.others, *wanted.roles.values()}
        self._wanted = wanted
        self._offered = [name for name in partitions if name in varying or name in given]
        self.has_real_numbers = wanted.has_real_numbers
        self.columns: dict[str, str] = {}
        self.beside: list[str] = []

    def choose(
        self, names: Sequence[str], inside: Mapping[str, Sequence[str]], file: str
    ) -> dict[str, str]:
        """Choose the columns by role, and return those that are in the file: see `Wanted`."""
        self.beside = [name for name in self._offered if name not in names]
        self.columns = self._wanted.choose([*names, *self.beside], inside, file)
        return {role: name for role, name in self.columns.items() if name not in self.beside}


class PartitionedFile:
    """A file of rows, with the columns that its folders name. A column in the file comes first.

    Args:
        file: The file.
        wanted: What is wanted of it.
        partitions: The columns that its folders name.
    """

    def __init__(
        self, file: File, wanted: WantedBeside, partitions: Mapping[str, str | None]
    ) -> None:
        arrow = load_arrow()
        self.name = file.name
        self.names = [*file.names, *wanted.beside]
        self.columns = wanted.columns
        self.notes = file.notes
        self.estimate = getattr(file, "estimate", None)
        self._file = file
        chosen = set(self.columns.values())
        self._cells = {name: partitions[name] for name in wanted.beside if name in chosen}
        self.schema = arrow.schema(
            [*file.schema, *(arrow.field(name, arrow.large_string()) for name in self._cells)]
        )

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        arrow = load_arrow()
        for batch, lines in self._file:
            cells = (
                arrow.repeat(arrow.scalar(text, arrow.large_string()), batch.num_rows)
                for text in self._cells.values()
            )
            columns = [*batch.columns, *cells]
            yield arrow.RecordBatch.from_arrays(columns, schema=self.schema), lines
