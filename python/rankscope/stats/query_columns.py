"""The queries of a window, as columns: what a change between two windows is traced in."""

from __future__ import annotations

from rankscope.errors import EmptyError, FormatError
from rankscope.records import record
from rankscope.results.decomposition import LOSSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.results import Losses
    from rankscope.stats.document_regrets import DocumentRegrets

MISSING = "<missing>"
"""What an attribute is called of a query that does not have it."""
ROUNDING = 1e-9
"""How far a value and its losses may be from adding up to 1."""
MOST = 1e100
"""Numbers beyond it have no exact sums in double precision."""

AMOUNTS = ("value", *LOSSES, "ideal", "relevant")


@record(frozen=True, slots=True)
class TextColumn:
    """Texts, each written once, and which of them each query has.

    Args:
        texts: The different texts. One may be there twice; it is one text nevertheless.
        codes: The place of each query's text among them, from 0; -1 where it has none.

    Raises:
        FormatError: A code is beyond the texts, or below -1.
    """

    texts: tuple[str, ...]
    codes: NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        if len(self.codes) == 0:
            return
        ends = int(self.codes.min()), int(self.codes.max())
        if ends[0] < -1 or ends[1] >= len(self.texts):
            raise FormatError(
                f"expected codes from -1 to below {len(self.texts)}, the number of texts, found "
                f"{ends[0]} to {ends[1]}",
                hint="give every code its text",
                code="column_damaged",
            )

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> TextColumn:
        """Code texts, one a query; `None` where it has none.

        Examples:
            >>> column = TextColumn.of(["tv", "phone", None, "tv"])
            >>> column.texts, column.codes.tolist()
            (('tv', 'phone'), [0, 1, -1, 0])
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        places: dict[str, int] = {}
        codes = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
        return cls(tuple(places), np.array(codes, dtype=np.int32))


@record(frozen=True, slots=True, kw_only=True)
class QueryColumns:
    """The queries of one window, each with weight 1: one number or text a query in each column.

    Args:
        measure: The definition of the measure whose values these are, such as `nDCG@5`.
        value: The values. A value and its losses add up to 1.
        retrieval: What is lost by documents that were not retrieved; `None` where the ideal order
            is made of what was shown, so that nothing is known of others.
        truncation: What is lost by documents that were retrieved, below the cutoff.
        ordering: What is lost by the order of those above it.
        undefined: 1 less the value, where a query has no relevant documents.
        ideal: What the ideal order adds up to.
        relevant: How many relevant documents are known.
        key: What may come again in another window: the text of the query, or the user.
        cluster: The queries that belong together, and are drawn together for intervals, such as
            those of a user; those with one key where it is not given.
        attributes: By name, what queries are sliced by, such as country and device.
        ranking_ids: What each query is called, where it is to be found again.
        documents: What the documents of the queries cost, where that is known.

    Raises:
        EmptyError: There are no queries.
        FormatError: Columns differ in length, hold something else than finite numbers, or do not
            add up.
    """

    measure: str
    value: NDArray[np.float64]
    retrieval: NDArray[np.float64] | None
    truncation: NDArray[np.float64]
    ordering: NDArray[np.float64]
    undefined: NDArray[np.float64]
    ideal: NDArray[np.float64]
    relevant: NDArray[np.float64]
    key: TextColumn
    cluster: TextColumn | None = None
    attributes: Mapping[str, TextColumn]
    ranking_ids: Sequence[str] | None = None
    documents: DocumentRegrets | None = None

    def __post_init__(self) -> None:
        if len(self.value) == 0:
            raise EmptyError(
                "expected queries in each window, found none in one",
                hint="take a longer window, or look whether events arrive",
                code="empty_input",
            )
        columns = {name: getattr(self, name) for name in AMOUNTS}
        texts = {"key": self.key, "cluster": self.cluster, **self.attributes}
        columns |= {name: column and column.codes for name, column in texts.items()}
        columns["ranking_id"] = self.ranking_ids
        for name, column in columns.items():
            if column is not None and len(column) != len(self.value):
                raise FormatError(
                    f"expected one {name} a query, {len(self.value)}, found {len(column)}",
                    hint="give every query a value in every column",
                    code="length_mismatch",
                )
        for name in AMOUNTS:
            _check_numbers(name, columns[name])
        self._check_sums()

    def _check_sums(self) -> None:
        whole = self.value + self.truncation + self.ordering + self.undefined
        if self.retrieval is not None:
            whole = whole + self.retrieval
        worst = int(abs(whole - 1).argmax())
        if not abs(whole[worst] - 1) <= ROUNDING:
            raise FormatError(
                "expected a value and its losses that add up to 1, found "
                f"{whole[worst]:.17g} in query {worst + 1}",
                hint="take all of them from the losses of one measure, such as nDCG",
                code="bad_losses",
            )

    @property
    def clusters(self) -> TextColumn:
        """The clusters that were given, or the keys."""
        return self.key if self.cluster is None else self.cluster

    def __len__(self) -> int:
        return len(self.value)


def _check_numbers(name: str, column: NDArray[np.float64] | None) -> None:
    # NaN and infinity fail the comparison, too.
    if column is None or float(abs(column).max()) < MOST:
        return
    worst = next(index for index, number in enumerate(column) if not abs(number) < MOST)
    raise FormatError(
        f"expected finite numbers below {MOST:g} in {name}, found {column[worst]} in query "
        f"{worst + 1}",
        hint="leave out the queries that the policy skips",
        code="bad_losses",
    )


def read_losses(
    losses: Losses,
    *,
    ideal: NDArray[np.float64],
    relevant: NDArray[np.float64],
    key: TextColumn | None = None,
    cluster: TextColumn | None = None,
    attributes: Mapping[str, TextColumn] | None = None,
) -> QueryColumns:
    """Read the columns of a window from the losses of its rankings.

    Queries that the policy leaves out, whose values are NaN, are left out.

    Args:
        losses: The losses, such as those of `Rankings.losses(nDCG @ 5)`, without stages.
        ideal: What the ideal order of each query adds up to, such as `per_query("IDCG@5")`.
        relevant: How many relevant documents each has, such as `per_query("NumRel")`.
        key: What may come again; the identifier of the query where it is not given.
        cluster: The queries that belong together; those with one key where it is not given.
        attributes: By name, what queries are sliced by.

    Raises:
        EmptyError: No query has a value.
        FormatError: Columns differ in length, or do not add up.

    Examples:
        >>> import rankscope as rs
        >>> rankings = rs.Rankings.from_lists([[6, 5, 1, 2, 0], [0, 5, 1, 2, 6]])
        >>> found = rankings.evaluate(["IDCG@5", "NumRel"])
        >>> columns = read_losses(
        ...     rankings.losses("nDCG@5"),
        ...     ideal=found.per_query("IDCG@5"),
        ...     relevant=found.per_query("NumRel"),
        ...     attributes={"device": TextColumn.of(["phone", "tv"])},
        ... )
        >>> columns.ordering.round(5).tolist()
        [0.00655, 0.35409]
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    whole = losses.array("value")
    is_there = ~np.isnan(whole)

    def take(column: NDArray[np.float64]) -> NDArray[np.float64]:
        given = np.asarray(column, dtype=np.float64)
        return given[is_there] if len(given) == len(whole) else given

    def take_text(column: TextColumn) -> TextColumn:
        if len(column.codes) != len(whole):
            return column
        return TextColumn(column.texts, column.codes[is_there])

    if key is None:
        key = TextColumn.of(map(str, losses.column("query_id")))
    return QueryColumns(
        measure=str(losses.measure),
        value=take(whole),
        retrieval=take(losses.array("retrieval")) if losses.observes_retrieval else None,
        truncation=take(losses.array("truncation")),
        ordering=take(losses.array("ordering")),
        undefined=take(losses.array("undefined")),
        ideal=take(ideal),
        relevant=take(relevant),
        key=take_text(key),
        cluster=None if cluster is None else take_text(cluster),
        attributes={name: take_text(column) for name, column in (attributes or {}).items()},
    )
