"""How inputs are read, as one frozen record."""

from __future__ import annotations

import operator
import os

from rankscope.errors import UsageError
from rankscope.records import record
from rankscope.settings.policy import CHOICES, check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.settings.policy import Duplicates, ScoreType
    from rankscope.typing import Progress

ENCODINGS = ("utf-8", "latin-1")
ROLES = ("query", "doc", "relevance", "score", "rank", "subtopic", "stratum")
"""What the columns of judgments and runs may be."""


@record(frozen=True, slots=True, kw_only=True)
class Reading:
    """How judgments and runs are read; `read` makes it of the arguments of public functions.

    Args:
        columns: By role, the names of columns that are given.
        duplicates: What to do with a document that occurs twice in a query.
        score_type: How scores are compared, `None` for what the convention says.
        encoding: How text is encoded.
        threads: The number of threads.
        memory: The memory limit as it is given, for `Room`.
        spill_folder: The folder for temporary files as it is given, for `Room`.
        progress: Whether to show a bar, or what to call.
    """

    columns: Mapping[str, str]
    duplicates: Duplicates
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
        return cls(
            columns=read_columns(columns),
            duplicates=duplicates,
            score_type=score_type,
            encoding=encoding,
            threads=count_threads(threads),
            memory=memory,
            spill_folder=spill_folder,
            progress=progress,
        )

    @property
    def scores_as(self) -> ScoreType:
        """How scores are compared where no convention says it."""
        return self.score_type or "float64"


def read_columns(given: Mapping[str, str] | None) -> dict[str, str]:
    """Read the mapping of roles to columns."""
    if given is not None and not hasattr(given, "keys"):
        raise UsageError(
            f"expected columns as a mapping of role to name, found {type(given).__name__}",
            hint="write columns={'query': 'customer', 'doc': 'sku'}",
            code="bad_parameter",
        )
    columns = {} if given is None else dict(given)
    for role in columns:
        check_choice("the role of a column", role, ROLES)
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
