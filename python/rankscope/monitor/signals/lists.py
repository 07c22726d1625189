"""The lists of many rankings as columns of numbers: documents and query keys are hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.arrays import number_codes
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.values import find_left_out
from rankscope.monitor.store.chunks import offsets_of, to_integers
from rankscope.monitor.store.records import Chunk, Context

PRODUCTION = "production"
NO_KEY = 0
"""Stands for the query key of a ranking that has none."""
ODD = 0x9E3779B97F4A7C15
"""An odd number without a pattern: 2^64 divided by the golden ratio."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of rankings, in the order of their times.

    Args:
        contexts: The numbers of the contexts of the rankings.
        keys: Hashes of their query keys, `NO_KEY` where there is none.
        offsets: The documents of ranking `q` are rows `offsets[q]:offsets[q + 1]`.
        documents: Hashes of the documents, in the order of their ranks.
        scores: Their scores, NaN where there is none.
    """

    contexts: NDArray[np.int64]
    keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of documents of each list."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The place of the ranking of each document."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def positions(self) -> NDArray[np.int64]:
        """The position of each document in its list, from 1."""
        return np.arange(1, len(self.documents) + 1) - np.repeat(self.offsets[:-1], self.sizes)

    def cut(self, depth: int) -> Lists:
        """Return the first documents of each list."""
        if (sizes := self.sizes).max(initial=0) <= depth:
            return self
        kept = self.positions <= depth
        return Lists(
            self.contexts,
            self.keys,
            offsets_of(np.minimum(sizes, depth)),
            self.documents[kept],
            self.scores[kept],
        )

    def take(self, rows: NDArray[np.int64]) -> Lists:
        """Return the lists at some places."""
        offsets, at = spread(self.offsets, rows)
        return Lists(
            self.contexts[rows],
            self.keys[rows],
            offsets,
            self.documents[at],
            self.scores[at],
        )

    @classmethod
    def join(cls, pieces: Sequence[Lists]) -> Lists:
        """Return the lists of several pieces, one after the other."""
        sizes = np.concatenate([piece.sizes for piece in pieces])
        return cls(
            np.concatenate([piece.contexts for piece in pieces]),
            np.concatenate([piece.keys for piece in pieces]),
            offsets_of(sizes),
            np.concatenate([piece.documents for piece in pieces]),
            np.concatenate([piece.scores for piece in pieces]),
        )


def read_lists(chunk: Chunk, rows: NDArray[np.int64]) -> Lists:
    """Read the lists at some places of a chunk."""
    items = chunk.items
    keys = to_integers(_core.hash_texts([(b"", chunk.query_keys)], rows))
    offsets, places = spread(items.offsets, rows)
    return Lists(
        chunk.contexts[rows],
        np.where(np.diff(chunk.query_keys[0])[rows] > 0, keys, NO_KEY),
        offsets,
        to_integers(_core.hash_texts([(b"", items.doc_ids)], places)),
        items.scores[places],
    )


def spread(
    offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of the lists at some places, and the places of their documents."""
    sizes = np.diff(offsets)[rows]
    chosen = offsets_of(sizes)
    return chosen, np.arange(chosen[-1]) + np.repeat(offsets[rows] - chosen[:-1], sizes)


def mix(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each pair of hashes, which differs where the pairs do."""
    mixed = one.view(np.uint64) ^ (other.view(np.uint64) * np.uint64(ODD))
    mixed ^= mixed >> np.uint64(32)
    return (mixed * np.uint64(ODD)).view(np.int64)


def find(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of numbers among sorted ones, -1 where they are missing."""
    if not len(known):
        return np.full(len(wanted), -1, dtype=np.int64)
    # Sorted first, each search begins where the last one ended: that takes half the time.
    order = np.argsort(wanted)
    places = np.empty(len(wanted), dtype=np.int64)
    places[order] = np.minimum(np.searchsorted(known, wanted[order]), len(known) - 1)
    return np.where(known[places] == wanted, places, -1)


class ContextCodes:
    """What the contexts of rankings mean for signals: models, and values of attributes.

    Args:
        contexts: What rankings have in common, by number.
        slicing: The slices of the project.
        left_out: The users whose rankings don't count.
    """

    def __init__(
        self, contexts: Mapping[int, Context], slicing: Slicing, left_out: Sequence[str] = ()
    ) -> None:
        self.contexts = contexts
        self._left_out = left_out
        self.slicing = slicing
        self.attributes = tuple(name for name, _ in slicing.values)
        self._hashes: dict[str, dict[int, int]] = {name: {} for name in self.attributes}

    def hash_values(self, attribute: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the hash of the slice by an attribute that rankings of contexts belong to."""
        known = self._hashes[attribute]
        used, inverse = number_codes(numbers)
        new = [number for number in used.tolist() if number not in known]
        if new:
            texts = self.slicing.place([self.contexts[number] for number in new], attribute)
            known.update(zip(new, _hash(texts), strict=True))
        return np.array([known[number] for number in used.tolist()], dtype=np.int64)[inverse]

    def group_models(self, numbers: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
        """Return the models of rankings by their contexts, and the places of their rankings."""
        used, inverse = number_codes(numbers)
        models = [self.contexts[number].model for number in used.tolist()]
        names = sorted(set(models))
        codes = np.array([names.index(model) for model in models], dtype=np.int64)[inverse]
        return [(name, np.flatnonzero(codes == code)) for code, name in enumerate(names)]

    def choose(self, chunk: Chunk) -> NDArray[np.int64]:
        """Return the places of the rankings in production that count."""
        used, inverse = number_codes(chunk.contexts)
        theirs = [self.contexts[number].environment == PRODUCTION for number in used.tolist()]
        is_wanted = np.array(theirs, dtype=np.bool_)[inverse]
        is_left_out = find_left_out(chunk, self._left_out)
        return np.flatnonzero(is_wanted if is_left_out is None else is_wanted & ~is_left_out)


def _hash(texts: Sequence[str]) -> list[int]:
    encoded = [text.encode() for text in texts]
    column = offsets_of(np.array([*map(len, encoded)])), np.frombuffer(b"".join(encoded), np.uint8)
    hashed: list[int] = to_integers(
        _core.hash_texts([(b"", column)], np.arange(len(texts)))
    ).tolist()
    return hashed
