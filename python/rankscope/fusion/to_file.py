"""Fuses runs of any size into a run file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from rankscope.engine.fusing import Fusion
from rankscope.engine.memory import Room
from rankscope.evaluation.rankings import Rankings
from rankscope.fusion.inputs import explaining, name_runs, path_of, read_run_lists
from rankscope.fusion.run import FusedFile, FusedRun, check_run_path, check_tag
from rankscope.fusion.settings import read_choices, read_weights
from rankscope.inputs.recognition import find_stream, recognise
from rankscope.settings.reading import Reading
from rankscope.writing import refuse_overwriting, replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO, Unpack

    from rankscope._core import Rankings as CoreRankings
    from rankscope._core import Run
    from rankscope.fusion.compute import Ties
    from rankscope.fusion.inputs import Given
    from rankscope.fusion.settings import Scale
    from rankscope.inputs.recognition import Input
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike, Path

ROOM = 1 << 20
"""More bytes of standard output than these are not held in memory if it is limited."""


def fuse_to_file(
    runs: Given,
    path: Path,
    method: str = "rrf",
    *,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    normalize: Scale | None = None,
    k: float | None = None,
    p: float | None = None,
    sigma: float | None = None,
    depth: int | None = None,
    ties: Ties = "doc_id",
    tag: str | None = None,
    **options: Unpack[ReadingOptions],
) -> FusedFile:
    """Fuse runs of any size into a run file, in bounded memory.

    The file is what `fuse` and `FusedRun.write` make, byte for byte, but neither the runs nor the
    result are held in memory: files, DuckDB relations, lazy frames, and datasets and readers of
    PyArrow are read side by side. That needs little memory if the rows of each query are together
    and the queries come in about the same order in all runs. Otherwise, rows that exceed `memory`
    go to temporary files.

    Args:
        runs: As in `fuse`.
        path: The file, which is replaced as a whole once it is complete, or `-` for standard
            output.
        method: As in `fuse`.
        weights: As in `fuse`.
        normalize: As in `fuse`.
        k: As in `fuse`.
        p: As in `fuse`.
        sigma: As in `fuse`.
        depth: As in `fuse`.
        ties: As in `fuse`.
        tag: The name of the run in the last column (default: the method).
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        What was written: queries, documents, and how many queries each run lacks.

    Raises:
        UsageError: An argument is invalid, the name of the file says another format, the file is
            one of the runs, or there are fewer than two runs.
        InputError: A run doesn't have the expected format, a document is twice in a list, or scores
            don't fit the scale.
        FileError: A file can't be read or written.
        OutOfMemoryError: A single query needs more memory than the limit.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> words = {"q1": {"d1": 12.0, "d2": 7.5}}
        >>> vectors = {"q1": {"d2": 0.9, "d4": 0.5}}
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "fused.run"
        ...     fused = fuse_to_file([words, vectors], path, "combsum", tag="both")
        ...     print(path.read_text(), end="")
        q1 Q0 d2 1 1.0 both
        q1 Q0 d1 2 1.0 both
        q1 Q0 d4 3 0.0 both
        >>> fused.queries, fused.documents, fused.missing
        (1, 3, (0, 0))
    """
    chosen = read_choices(method, normalize, {"k": k, "p": p, "sigma": sigma}, ties, depth)
    word = chosen.method.name if tag is None else check_tag(tag)
    check_run_path(path)
    reading = Reading.of("fuse_to_file", options, holds_all="")
    named = name_runs(runs)
    paths = [each for each in map(path_of, named.values()) if each is not None]
    refuse_overwriting(os.fspath(path), paths, "choose another path")
    weighed = read_weights(chosen.method, weights, list(named))
    room = Room(reading.memory, reading.spill_folder)
    found: dict[str, Input | Run | CoreRankings] = {}
    for name, run in named.items():
        with explaining(name):
            found[name] = _recognise(run, reading)
    fusion = Fusion(found, chosen.settings(weighed), word, reading=reading, explaining=explaining)
    with _opening(path, room) as file:
        written = fusion.write(room, file)
    return FusedFile(
        path=os.fspath(path),
        **chosen.describe(
            named, weighed, (written.queries - queries for queries in written.of_runs)
        ),
        queries=written.queries,
        documents=written.documents,
    )


@contextmanager
def _opening(path: Path, room: Room) -> Iterator[IO[bytes]]:
    """Yield the file to write to, which is seen by others once it is complete."""
    if path != "-":
        with replacing(path) as part, part.open("wb") as file:
            yield file
        return
    from shutil import copyfileobj  # noqa: PLC0415 - only for standard output
    from tempfile import SpooledTemporaryFile  # noqa: PLC0415 - as above

    with SpooledTemporaryFile(room.unasked or ROOM, dir=room.folder) as held:
        yield held
        held.seek(0)
        copyfileobj(held, sys.stdout.buffer)


def _recognise(run: InputLike | Rankings, reading: Reading) -> Input | Run | CoreRankings:
    """Return a run that can be streamed as it is, and another one as its lists in memory."""
    if not isinstance(run, Rankings | FusedRun):
        found = find_stream(recognise(run, "run", reading.columns))
        if found.is_in_files:
            return found
    return read_run_lists(run, reading)[0]
