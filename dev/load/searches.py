"""A generated log: what was shown, what was clicked, and the grades that follow from that.

Everything of a batch follows from its number, so that the check of the service needs no copy of
what was sent to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

SEED = 20261121
BATCH = 100
"""Rankings in a batch, which is what one request holds."""
DOCUMENTS = 50
"""Documents in a ranking."""
CATALOGUE = 99_991
"""How many documents there are: a prime, so that steps through them meet none twice."""
NAMES = [f"item{number:08}" for number in range(CATALOGUE)]
START = 1_767_225_600 * SECOND
"""When the log begins: 2026-01-01."""
STEP = 2 * SECOND
"""From one ranking to the next."""
WINDOW = HOUR
"""For how long after a ranking its labels count."""
WEIGHTS = {"click": 1, "buy": 5}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTRIES = ("at", "de", "fr", "jp", "us")
DEVICES = ("car", "phone", "tv", "web")
RANKS = tuple(range(1, DOCUMENTS + 1))


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rankings and their labels.

    Args:
        number: The batch; the rest follows from it.
        ids: What rankings are known by: 32 digits, in no order.
        times: When they were shown, in microseconds since 1970.
        documents: By ranking, the numbers of its documents in rank order.
        scores: Their scores.
        common: By ranking, the numbers of the query, the user, the country and the device.
        rankings: Of each label, the place of its ranking in the batch.
        ranks: The rank of its document, less 1.
        delays: How long after its ranking it came, in microseconds.
        is_buy: Whether it says more than a click.
    """

    number: int
    ids: list[str]
    times: NDArray[np.int64]
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    common: NDArray[np.int64]
    rankings: NDArray[np.int64]
    ranks: NDArray[np.int64]
    delays: NDArray[np.int64]
    is_buy: NDArray[np.bool_]

    def grades(self) -> NDArray[np.float64]:
        """Return the grade of each document once its window is closed, one row a ranking."""
        grades = np.zeros((BATCH, DOCUMENTS))
        counts = self.delays < WINDOW
        worth = np.where(self.is_buy, WEIGHTS["buy"], WEIGHTS["click"])
        np.add.at(grades, (self.rankings[counts], self.ranks[counts]), worth[counts])
        return grades

    def list_rankings(self) -> Iterator[Ranking]:
        """Return the rankings as a store takes them."""
        columns = (self.ids, self.times.tolist(), self.documents.tolist(), self.scores.tolist())
        for at, (name, time, documents, scores) in enumerate(zip(*columns, strict=True)):
            query, user, attributes = self._common(at)
            yield Ranking(
                name,
                name,
                time,
                Items(tuple(NAMES[one] for one in documents), RANKS, tuple(scores)),
                query,
                user,
                "search",
                self.version,
                "production",
                tuple(attributes.items()),
            )

    def list_labels(self) -> Iterator[Label]:
        """Return the labels as a store takes them."""
        for event_id, place, doc_id, time, name in self._labels():
            yield Label(event_id, self.ids[place], doc_id, time, (name,))

    def write_rankings(self) -> bytes:
        """Return the rankings as they are sent."""
        rows = []
        for at, (name, time) in enumerate(zip(self.ids, self.times.tolist(), strict=True)):
            query, user, attributes = self._common(at)
            columns = (self.documents[at].tolist(), RANKS, self.scores[at].tolist())
            items = [
                {"doc_id": NAMES[document], "rank": rank, "score": score}
                for document, rank, score in zip(*columns, strict=True)
            ]
            rows.append(
                {
                    "ranking_id": name,
                    "time": format_time(time),
                    "query_key": query,
                    "user_id": user,
                    "model": "search",
                    "version": self.version,
                    "attributes": attributes,
                    "items": items,
                }
            )
        return _write(rows)

    def write_labels(self) -> bytes:
        """Return the labels as they are sent."""
        return _write(
            [
                {
                    "event_id": event_id,
                    "ranking_id": self.ids[place],
                    "doc_id": doc_id,
                    "time": format_time(time),
                    "labels": [name],
                }
                for event_id, place, doc_id, time, name in self._labels()
            ]
        )

    @property
    def version(self) -> str:
        """The version of the model: each is there for a thousand batches."""
        return str(1 + self.number // 1000)

    def _common(self, at: int) -> tuple[str, str, dict[str, str]]:
        query, user, country, device = self.common[at].tolist()
        attributes = {"country": COUNTRIES[country], "device": DEVICES[device]}
        return f"query {query}", f"user {user}", attributes

    def _labels(self) -> Iterator[tuple[str, int, str, int, str]]:
        times = self.times[self.rankings] + self.delays
        documents = self.documents[self.rankings, self.ranks]
        columns = (self.rankings.tolist(), documents.tolist(), times.tolist(), self.is_buy.tolist())
        for at, (place, document, time, is_buy) in enumerate(zip(*columns, strict=True)):
            name = "buy" if is_buy else "click"
            # Told apart by more than what they say: two clicks at one moment are two.
            yield f"{self.ids[place]}-{at}", place, NAMES[document], time, name


def make_batch(number: int) -> Batch:
    """Make a batch.

    Args:
        number: Which one.
    """
    random = np.random.default_rng([SEED, number])
    digits = random.bytes(16 * BATCH).hex()
    first, step = random.integers(1, CATALOGUE, size=(2, BATCH, 1))
    counts = random.integers(0, 7, size=BATCH)
    rankings = np.repeat(np.arange(BATCH), counts)
    labels = len(rankings)
    return Batch(
        number=number,
        ids=[digits[at : at + 32] for at in range(0, len(digits), 32)],
        times=START + STEP * (number * BATCH + np.arange(BATCH)),
        documents=(first + step * np.arange(DOCUMENTS)) % CATALOGUE,
        scores=np.sort(random.integers(0, 4096, size=(BATCH, DOCUMENTS)) / 4096)[:, ::-1],
        common=random.integers(0, (5_000, 20_000, len(COUNTRIES), len(DEVICES)), size=(BATCH, 4)),
        rankings=rankings,
        ranks=np.minimum(random.geometric(0.15, size=labels), DOCUMENTS) - 1,
        delays=random.exponential(20 * MINUTE, size=labels).astype(np.int64),
        is_buy=random.random(labels) < 0.2,
    )


def format_time(time: int) -> str:
    """Write a time as it is sent."""
    return (EPOCH + timedelta(microseconds=time)).isoformat()


def _write(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows, separators=(",", ":")).encode()
