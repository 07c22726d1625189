"""The rankings of some days as columns of numbers, and what documents that come again tell of them.

Documents, query keys and versions are hashes or codes, so that a million rankings fit into memory.
"""

from __future__ import annotations

from rankscope import _core
from rankscope.clicks.harvesting import Shown
from rankscope.deferred import np
from rankscope.monitor.arrays import number_codes
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.stored_windows import RANKS
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.signals.lists import ContextCodes, mix, spread
from rankscope.monitor.store.merging import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.rules.run import Scene

    Numbers = NDArray[np.float64]
    Codes = NDArray[np.int64]

MOST_READ, MOST_KEPT = 1_000_000, 100_000
"""How many rankings are read, and of how many the queries are kept."""
FEWEST_SHOWN = 20
"""How often a document was shown at a rank before the change, at least."""
CLUSTERS = 1000
"""Queries are put together in so many clusters."""
FINE = 1 << 20
ALIKE = 0.9
"""The share of places at which lists of one query and day have the same document, at least."""
MOST_ROWS = 200_000
FEWEST_PAIRS = 1000
"""On how many pairs of places that share is based, at least."""


@record(frozen=True, slots=True, kw_only=True)
class Rankings:
    """Rankings of some days, with documents down to the deepest rank that is compared.

    Args:
        queries: Hashes of their query keys, or of their ids where they have none.
        has_key: Whether they have a query key.
        makers: A number for the version that made each, and the day.
        offsets: The documents of ranking `q` are rows `offsets[q]:offsets[q + 1]`.
        documents: Hashes of the documents.
        ranks: Their ranks as logged, from 1.
        grades: Their grades.
    """

    queries: Codes
    has_key: NDArray[np.bool_]
    makers: Codes
    offsets: Codes
    documents: Codes
    ranks: Codes
    grades: Numbers

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def owners(self) -> Codes:
        """The number of the ranking of each document."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def clusters(self) -> Codes:
        """The cluster of each ranking: that of its query."""
        return (self.queries >> 20) % CLUSTERS

    @classmethod
    def none(cls) -> Rankings:
        """Return no rankings."""
        none = np.zeros(0, dtype=np.int64)
        names = ("queries", "makers", "documents", "ranks")
        return cls(
            has_key=none > 0,
            offsets=np.zeros(1, np.int64),
            grades=none.astype(np.float64),
            **dict.fromkeys(names, none),
        )

    @classmethod
    def join(cls, pieces: Sequence[Rankings]) -> Rankings:
        """Return the rankings of several pieces, at least one."""
        sizes = np.concatenate([np.diff(piece.offsets) for piece in pieces])
        names = ("queries", "has_key", "makers", "documents", "ranks", "grades")
        columns = {
            name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names
        }
        return cls(offsets=offsets_of(sizes), **columns)

    def measure_likeness(self) -> tuple[float, float]:
        """Return how often two lists of a query, version and day have one document at a rank.

        The second number is of how many pairs that is the share.
        """
        rows = self.find_rows()[:MOST_ROWS]
        owners = self.owners[rows]
        places = mix(mix(self.queries[owners], self.makers[owners]), self.ranks[rows])
        same = mix(places, self.documents[rows])
        pairs, alike = (
            float((counts * (counts - 1.0)).sum())
            for counts in (np.unique(each, return_counts=True)[1] for each in (places, same))
        )
        return alike / pairs if pairs else 0.0, pairs

    def find_rows(self) -> Codes:
        """Find the documents of queries that may come again, at the ranks that are compared."""
        return np.flatnonzero(self.has_key[self.owners] & (self.ranks <= RANKS))

    def mark_first(self) -> NDArray[np.bool_]:
        """Return which documents have no relevant one of their list above them."""
        first = np.full(len(self), RANKS + 1)
        rows = np.flatnonzero(self.grades > 0)
        np.minimum.at(first, self.owners[rows], self.ranks[rows])
        found: NDArray[np.bool_] = self.ranks <= first[self.owners]
        return found


def pair(before: Rankings, after: Rankings) -> tuple[Shown, Shown]:
    """Return the documents of two times: a place is a rank before, or `RANKS` higher, after.

    Documents that were shown rarely before don't count: where the new order was learned from these
    clicks, those with luck are higher now, and without it.

    Returns:
        All that were shown, and those without a relevant document above them.
    """
    columns = []
    for each, deeper in ((before, 0), (after, RANKS)):
        rows = each.find_rows()
        owners = each.owners[rows]
        columns.append(
            (
                mix(each.queries[owners], each.documents[rows]),
                each.ranks[rows] - 1 + deeper,
                each.clusters[owners],
                each.grades[rows] > 0,
                each.mark_first()[rows],
            )
        )
    documents, ranks, clusters, clicks, is_first = map(np.concatenate, zip(*columns, strict=True))
    names, codes = np.unique(documents, return_inverse=True)
    of_documents = np.zeros(len(names), dtype=np.int64)
    of_documents[codes] = clusters
    # A document at a place is one row, so that few rows are compared.
    cells, rows = np.unique(codes * (2 * RANKS) + ranks, return_inverse=True)
    at, places = np.divmod(cells, 2 * RANKS)
    made = []
    for counted in (np.ones(len(rows)), is_first * 1.0):
        impressions, clicked = (
            np.bincount(rows, weights=each).astype(np.float64)
            for each in (counted, counted * clicks)
        )
        kept = impressions >= np.where(places < RANKS, FEWEST_SHOWN, 1)
        made.append(
            Shown(
                documents=at[kept],
                places=places[kept],
                impressions=impressions[kept],
                clicks=clicked[kept],
                clusters=of_documents[at[kept]],
            )
        )
    return made[0], made[1]


def read_rankings(
    scene: Scene, model: str, days: Sequence[int], share: float, now: int
) -> Rankings:
    """Read the rankings of production of some days, with their grades as of a moment.

    Args:
        scene: Where they are.
        model: The model that made them; empty for all.
        days: When the days begin.
        share: The share of queries whose rankings are kept, the same ones whatever the days.
        now: The moment.
    """
    definition = scene.configuration.definition
    brief = definition.only(definition.measures[0])
    codes = ContextCodes(scene.store.contexts(scene.project), scene.slicing, definition.left_out)
    versions: dict[tuple[str, str], int] = {}
    pieces = [Rankings.none()]
    for day in days:
        chunks = scene.store.read(scene.project, day, day + DAY)
        for one in evaluate_chunks(chunks, brief, now=now, threads=scene.threads):
            used, inverse = number_codes(one.chunk.contexts)
            makers = np.array(
                [
                    versions.setdefault((each.model, each.version), len(versions))
                    if model in {"", each.model}
                    else -1
                    for each in (codes.contexts[number] for number in used.tolist())
                ],
                dtype=np.int64,
            )[inverse]
            rows = codes.choose(one.chunk)
            rows = rows[(makers[rows] >= 0) & ~one.values.is_refused[rows]]
            pieces.append(_take(one, rows, makers * (1 << 40) + day // DAY, share))
    return Rankings.join(pieces)


def _take(one: Evaluated, rows: Codes, makers: Codes, share: float) -> Rankings:
    """Take a share of some rankings of a chunk, by their queries."""
    chunk = one.chunk
    names = [(b"q", chunk.query_keys), (b"r", chunk.ranking_ids)]
    queries = read_integers(_core.hash_texts(names, rows))
    kept = (queries & (FINE - 1)) < share * FINE
    rows = rows[kept]
    sizes, at = spread(chunk.items.offsets, rows)
    owners = np.repeat(np.arange(len(rows)), np.diff(sizes))
    needed = (chunk.items.ranks[at] <= RANKS) | (one.graded.relevance[at] > 0)
    at = at[needed]
    return Rankings(
        queries=queries[kept],
        has_key=np.diff(chunk.query_keys[0])[rows] > 0,
        makers=makers[rows],
        offsets=offsets_of(np.bincount(owners[needed], minlength=len(rows))),
        documents=read_integers(_core.hash_texts([(b"", chunk.items.doc_ids)], at)),
        ranks=chunk.items.ranks[at],
        grades=one.graded.relevance[at],
    )
