"""What a store answers with, whatever database is behind it."""

from __future__ import annotations

from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.events.event import Environment


@record(frozen=True, slots=True)
class Deleted:
    """What a retention took away.

    Args:
        rankings: How many rankings.
        labels: How many labels.
    """

    rankings: int
    labels: int


@record(frozen=True, slots=True)
class Exported:
    """What was written to files.

    Args:
        rankings: How many rankings.
        labels: How many labels.
    """

    rankings: int
    labels: int


@record(frozen=True, slots=True)
class Touched:
    """What changed since a number of the store.

    Args:
        seq: Up to which number this holds; ask from there next time.
        times: The times of the rankings that came, or to which labels came, ascending: those of
            the starts of their windows, where a length is given.
    """

    seq: int
    times: NDArray[np.int64]


@record(frozen=True, slots=True)
class Version:
    """A version of a model that has rankings, or all those together that are not listed.

    Args:
        model: The model; empty where unknown, `<other>` for models that are not listed.
        version: Its version; empty where unknown, `<other>` for versions that are not listed.
        environment: Where it ranked.
        first: The time of its first ranking that is stored, in microseconds since 1970.
        last: That of its last.
        rankings: How many there are.
        folded: How many versions this stands for, if it is `<other>`; else 0.
    """

    model: str
    version: str
    environment: Environment
    first: int
    last: int
    rankings: int
    folded: int = 0

    def may_be(self, model: str | None, version: str | None) -> bool:
        """Whether rankings of a model and a version may be among its own; `None` is any.

        Examples:
            >>> Version("search", "<other>", "production", 0, 9, 3, folded=2).may_be("search", "7")
            True
        """
        return (model in {None, self.model} or (self.folded > 0 and self.model == OTHER)) and (
            version in {None, self.version} or self.folded > 0
        )
