"""How inputs are read, as one frozen record."""

from __future__ import annotations

import operator
import os

from rankscope.errors import UsageError
from rankscope.hints import refuse_argument
from rankscope.names import check_choice, quote
from rankscope.records import record
from rankscope.settings.policy import CHOICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypedDict

    from rankscope.settings.policy import Duplicates, ScoreType
    from rankscope.typing import Progress

    class Columns(TypedDict, total=False):
        """The names of columns by role, as keyword arguments."""

        query: str | None
        doc: str | None
        relevance: str | None
        score: str | None
        rank: str | None
        subtopic: str | None
        stratum: str | None

    class ReadingOptions(Columns, total=False):
        """How inputs are read, as keyword arguments; `evaluate` documents each."""

        duplicates: Duplicates
        ignore_same: bool
        score_type: ScoreType | None
        encoding: Literal["utf-8", "latin-1"]
        threads: int | None
        memory: int | str | None
        spill_folder: str | os.PathLike[str] | None
        progress: Progress


ENCODINGS = ("utf-8", "latin-1")
ROLES = ("query", "doc", "relevance", "score", "rank", "subtopic", "stratum")
"""What the columns of judgments and runs may be."""
LIMITS = ("memory", "spill_folder")
OPTIONS = (
    *ROLES,
    "duplicates",
    "ignore_same",
    "score_type",
    "encoding",
    "threads",
    *LIMITS,
    "progress",
)
"""The keys of `ReadingOptions`."""


@record(frozen=True, slots=True, kw_only=True)
class Reading:
    """How judgments and runs are read; `read` makes it of the arguments of public functions.

    Args:
        columns: By role, the names of columns that are given.
        duplicates: What to do with a document that occurs twice in a query.
        ignore_same: Whether to leave out of a list the document that has the ID of its query.
        score_type: How scores are compared, `None` for what the convention says.
        encoding: How text is encoded.
        threads: The number of threads.
        memory: The memory limit as it is given, for `Room`.
        spill_folder: The folder for temporary files as it is given, for `Room`.
        progress: Whether to show a bar, or what to call.
    """

    columns: Mapping[str, str]
    duplicates: Duplicates
    ignore_same: bool
    score_type: ScoreType | None
    encoding: str
    threads: int
    memory: object
    spill_folder: object
    progress: Progress

    @classmethod
    def read(
        cls,
        *,
        columns: Mapping[str, str] | None = None,
        duplicates: Duplicates = "error",
        ignore_same: bool = False,
        score_type: ScoreType | None = None,
        encoding: str = "utf-8",
        threads: int | None = None,
        memory: object = None,
        spill_folder: object = None,
        progress: Progress = None,
    ) -> Reading:
        """Check the arguments of a public function, and count its threads once."""
        if score_type is not None:
            check_choice("score_type", score_type, CHOICES["score_type"])
        check_choice("duplicates", duplicates, CHOICES["duplicates"])
        check_choice("encoding", encoding, ENCODINGS)
        if not isinstance(ignore_same, bool):
            raise UsageError(
                f"expected ignore_same as True or False, found {quote(ignore_same)}",
                hint="it is for queries that are documents themselves",
                code="bad_parameter",
            )
        return cls(
            columns=read_columns(columns),
            duplicates=duplicates,
            ignore_same=ignore_same,
            score_type=score_type,
            encoding=encoding,
            threads=count_threads(threads),
            memory=memory,
            spill_folder=spill_folder,
            progress=progress,
        )

    @classmethod
    def take(
        cls, options: Mapping[str, Any], *, holds_all: str = "the inputs"
    ) -> tuple[Reading, dict[str, Any]]:
        """Return how inputs are read, and the options about something else.

        Memory has no limit for inputs of which all rows are held; `holds_all` says which they are.
        """
        own = {name: value for name, value in options.items() if name in OPTIONS}
        columns = {role: own.pop(role) for role in ROLES if own.get(role) is not None}
        reading = cls.read(columns=columns, **{k: v for k, v in own.items() if k not in ROLES})
        if holds_all:
            reading.refuse_limits(f"{holds_all}, of which all rows are held in memory")
        return reading, {name: value for name, value in options.items() if name not in OPTIONS}

    @classmethod
    def of(
        cls,
        function: str,
        options: Mapping[str, Any],
        *,
        known: Sequence[str] = OPTIONS,
        holds_all: str = "the inputs",
    ) -> Reading:
        """Return how the inputs of a function are read that has no other options."""
        reading, others = cls.take(options, holds_all=holds_all)
        others |= {name: None for name in options if name not in known}
        if others:
            raise refuse_argument(function, min(others), known)
        return reading

    def refuse_limits(self, what: str) -> None:
        """Refuse a memory limit that would have no effect."""
        named = next((name for name in LIMITS if getattr(self, name) is not None), None)
        if named is not None:
            raise UsageError(
                f"{named} has no effect on {what}",
                hint=f"remove {named}, or pass a file with grades and scores or ranks to evaluate",
                code="bad_memory",
            )

    @property
    def scores_as(self) -> ScoreType:
        """How scores are compared where no convention says it."""
        return self.score_type or "float64"


def read_columns(given: Mapping[str, str] | None) -> dict[str, str]:
    """Read the mapping of roles to columns."""
    columns = {} if given is None else dict(given)
    for role, name in columns.items():
        check_choice("the role of a column", role, ROLES)
        if not isinstance(name, str):
            raise UsageError(
                f"expected {role} as the name of a column, found {type(name).__name__}",
                hint=f"write {role}='…'",
                code="bad_parameter",
            )
    return columns


def count_threads(given: object) -> int:
    """Return the number of threads to use (default: all cores)."""
    if given is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not every system says which processors a process may use
            count = os.cpu_count()
            return 1 if count is None else count
    is_number = hasattr(given, "__index__") and not isinstance(given, bool)
    threads = operator.index(given) if is_number else 0  # type: ignore[arg-type]  # see above
    if threads < 1:
        raise UsageError(
            f"expected threads to be 1 or more, found {given!r}",
            hint="omit it to use all cores",
            code="bad_threads",
        )
    return min(threads, 256)
