"""A sample of users whose rankings are traced where a span has more than memory should hold."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.monitor.evaluate.clusters import number_clusters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.monitor.store.records import Chunk

HIGHEST = 63
"""The lowest rate is one of 2^63."""


class UserSample:
    """Chooses users so that at most so many of their rankings are traced.

    Users are chosen as a whole, by a hash of their name: where they are unknown, queries, and
    where those are unknown, rankings. So the sample is the same in whatever order rankings come,
    and a user who is in one span of a trace is in the other. The rate is halved until few enough
    rankings are left.

    Args:
        most: How many rankings a span may have, at least 1.

    Raises:
        UsageError: That is not above 0.

    Examples:
        >>> sample = UserSample(1000)
        >>> sample.rate
        1.0
        >>> sample.halve()
        >>> sample.rate
        0.5
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise UsageError(
                f"expected a sample of at least 1 ranking, found {most}",
                hint="omit it to trace all rankings",
                code="bad_parameter",
            )
        self.most = most
        self.level = 0

    @property
    def rate(self) -> float:
        """The probability that a user is in it."""
        return 0.5**self.level

    def halve(self) -> None:
        """Leave out half of the users."""
        self.level = min(self.level + 1, HIGHEST)

    def number(self, chunk: Chunk, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the hash of the user of each ranking at some places of a chunk."""
        return number_clusters(chunk, places).view(np.uint64)

    def has(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which users are in it, by their hashes."""
        if not self.level:
            return np.ones(len(numbers), dtype=np.bool_)
        is_in: NDArray[np.bool_] = numbers >> np.uint64(64 - self.level) == 0
        return is_in
