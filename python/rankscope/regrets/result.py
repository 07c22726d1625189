"""The regrets of rankings: the loss due to each document and each rank."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.evaluation.tables import MeasuredTable
from rankscope.output.ids import TEXT
from rankscope.output.table import Table
from rankscope.output.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Column
    from rankscope.settings.policy import Policy

SHOWN = 10
"""The number of rows that are printed."""


class Regrets(MeasuredTable):
    """A table with the regret of each document with a gain, or of each value of an attribute.

    The columns are `query_id`, `doc_id` (`None` without IDs), `grade`, `rank` (`None` if it was not
    retrieved, the first rank of its tie if it is tied) and `regret`: what its gain contributes in
    the ideal order minus what it contributes in the list. It is negative for a document that ranks
    higher than in the ideal order. The regrets of a query add up to its loss.

    With an attribute, the columns are `attribute`, `documents`, `unretrieved` (the number of those
    that were not retrieved) and `regret`, over all queries. They add up to the loss of the mean.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q": {"a": 3, "b": 1, "c": 1}}
        >>> rankings = rs.Rankings.from_run(qrels, {"q": {"b": 3, "a": 2, "x": 1}})
        >>> regrets = rankings.regrets("nDCG@10")
        >>> print(regrets)
        query_id  doc_id  grade  rank   regret
        q         a       3         2   0.2680
        q         c       1         –   0.1369
        q         b       1         1  -0.1052
        loss of nDCG@10: 0.2997
        >>> regrets.by_rank.column("rank")
        (1, 2, 3)
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        loss: float,
        by_rank: Table,
        read_swaps: Callable[[], Table],
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, measure=measure, policy=policy, source=source)
        self._loss = loss
        self._by_rank = by_rank
        self._swaps: Table | Callable[[], Table] = read_swaps

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_swaps": self.swaps}

    @property
    def loss(self) -> float:
        """The loss of the mean, without that of queries that have no relevant documents."""
        return self._loss

    @property
    def by_rank(self) -> Table:
        """A table with the regret of each rank: the gain in the ideal order minus the actual gain.

        The columns are `rank` and `regret`. The regrets add up to the loss of the mean.
        """
        return self._by_rank

    @property
    def swaps(self) -> Table:
        """A table with the two documents of each query whose swap improves the value most.

        The columns are `query_id`, `rank` and `doc_id` of the upper document, `other_rank` and
        `other_doc_id` of the lower one, and `gained`, the |ΔnDCG| of LambdaRank. It is exact for
        one swap, but the gains of several swaps don't add up. Queries that no swap improves have
        no row.
        """
        if callable(self._swaps):
            self._swaps = self._swaps()
        return self._swaps

    def to_dict(self) -> dict[Any, Any]:
        """Return the documents of each query, or the columns of each value of the attribute.

        Examples:
            >>> import rankscope as rs
            >>> rankings = rs.Rankings.from_run({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}})
            >>> rankings.regrets("DCG@2").to_dict()
            {'q': [{'doc_id': 'a', 'grade': 1.0, 'rank': 2, 'regret': 0.36907024642854247}]}
        """
        if "query_id" not in self.names:
            return super().to_dict()
        found: dict[Any, Any] = {}
        for query, *rest in self.rows():
            found.setdefault(query, []).append(dict(zip(self.names[1:], rest, strict=True)))
        return found

    def _largest(self) -> Table:
        """Return the rows with the largest regrets."""
        regrets = self.array("regret")
        columns = {name: self._cells(name) for name in self.names}
        least = np.sort(regrets)[-SHOWN:][:1]
        order = sorted(
            np.flatnonzero(regrets >= least).tolist(),
            key=lambda at: (-regrets[at], *(str(columns[name][at]) for name in self.names[:2])),
        )[:SHOWN]
        shown = {name: [column[at] for at in order] for name, column in columns.items()}
        if "grade" in shown:
            shown["grade"] = [f"{grade:g}" for grade in shown["grade"]]
        return Table(shown, numbers=("grade",))

    def _words(self) -> list[str]:
        left = len(self) - SHOWN
        return [
            *([f"and {left} more rows"] if left > 0 else []),
            f"loss of {self.measure}: {format_value(self.loss)}",
        ]

    def _parts(self) -> list[str | Table]:
        return [self._largest(), *self._words()]
