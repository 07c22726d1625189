"""Click logs: which document was shown at which rank, and whether it was clicked."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import FormatError, InputError
from rankscope.inputs.columns import read_values
from rankscope.inputs.query_table import decode
from rankscope.inputs.recognition import recognise_table
from rankscope.inputs.tables import FoundColumns, open_table
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.settings.reading import Reading

MOST_RANKS = 10_000
FEWEST_SHOWN = 100
"""The number of documents from which on it can't be chance that all were clicked."""
ROLES = {"rank": "rank", "click": "relevance", "propensity": "weight"}
"""What the columns are where tables are read."""


@record(frozen=True, slots=True)
class Clicks:
    """Impressions: documents that were shown.

    Args:
        ranks: The rank of each, from 1 on.
        clicks: 1 where it was clicked, 0 elsewhere.
        weights: 1 divided by the probability with which it was shown there, where that is known.
        clusters: The cluster of each, such as the user, as text, where clusters are given.
    """

    ranks: NDArray[np.int64]
    clicks: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    clusters: list[str] | None = None


def refuse_clicked_only(clicked: float, shown: float) -> None:
    """Raise an error for a log of clicks only, in which every rate would be 1."""
    if clicked == shown >= FEWEST_SHOWN:
        raise FormatError(
            "expected documents that were shown and not clicked, found clicks only",
            hint="pass one row for each document that was shown, clicked or not",
            code="bad_click",
        )


def read_clicks(log: object, names: Mapping[str, str | None], reading: Reading) -> Iterator[Clicks]:
    """Read a click log, batch by batch if it is in files."""
    given = recognise_table(log)
    wanted = {role: names[name] for name, role in ROLES.items()}
    if names["propensity"] is None:
        del wanted[ROLES["propensity"]]
    cluster = names.get("cluster")
    if not given.format:
        try:
            yield _read_batch(given.value, wanted, cluster)
        except InputError as error:
            error.file = given.name
            raise
        return
    from rankscope.inputs.files.roles import Wanted  # noqa: PLC0415 - only files need it
    from rankscope.inputs.files.table import TableFile  # noqa: PLC0415 - as above

    others = () if cluster is None else (cluster,)
    columns = Wanted({**wanted, **given.columns}, others, [[role] for role in wanted])
    with TableFile(given, columns, reading) as file:
        before = 0
        for batch in file:
            try:
                yield _read_batch(batch, file.columns, cluster)
            except InputError as error:
                error.line = error.line and error.line + before
                raise file.place(error) from None
            before += batch.num_rows


def _read_batch(table: object, wanted: Mapping[str, str | None], cluster: str | None) -> Clicks:

    found = FoundColumns(open_table(table), wanted)
    ranks = found.read_numbers(ROLES["rank"])
    is_rank = (ranks >= 1) & (ranks <= MOST_RANKS) & (ranks == np.floor(ranks))
    _refuse(is_rank, ranks, f"ranks from 1 to {MOST_RANKS:,}", "the first rank is 1", "bad_rank")
    clicks = found.read_numbers(ROLES["click"])
    _refuse((clicks == 0) | (clicks == 1), clicks, "clicks as 0 or 1", SHOWN_ONCE, "bad_click")
    weights = None
    if ROLES["propensity"] in wanted:
        chances = found.read_numbers(ROLES["propensity"])
        is_chance = (chances > 0) & (chances <= 1)
        _refuse(is_chance, chances, "propensities above 0, up to 1", LOGGED, "bad_propensity")
        weights = 1 / np.asarray(chances, dtype=np.float64)
    clusters = None
    if cluster is not None:
        clusters = decode(read_values(found.table.find(cluster, "clusters"), cluster))
    return Clicks(
        np.asarray(ranks, dtype=np.int64), np.asarray(clicks, dtype=np.float64), weights, clusters
    )


SHOWN_ONCE = "a row is one document, shown once"
LOGGED = "a propensity is the probability with which the document was shown there"


def _refuse(is_good: NDArray[Any], values: NDArray[Any], wanted: str, hint: str, code: str) -> None:

    if not is_good.all():
        at = int(np.argmin(is_good))
        raise FormatError(
            f"expected {wanted}, found {values[at]:g}", hint=hint, code=code, line=at + 1
        )
