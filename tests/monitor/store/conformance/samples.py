"""Generated events, and everything that a store holds as events again."""

from __future__ import annotations

import math
import random
from itertools import pairwise

from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.store import StoreReader


def make_ranking(number: int, documents: int = 3) -> Ranking:
    """Make a ranking that depends on nothing but a number."""
    drawn = random.Random(number)
    scores = tuple(sorted((drawn.random() for _ in range(documents)), reverse=True))
    return Ranking(
        f"event-{number}",
        f"ranking-{number}",
        number,
        Items(
            tuple(f"document{number % 97:02}{at:02}" for at in range(documents)),
            tuple(range(1, documents + 1)),
            scores,
        ),
    )


def make_label(number: int, ranking: int, document: int = 0) -> Label:
    """Make a click on a document of a ranking."""
    doc_id = f"document{ranking % 97:02}{document:02}"
    return Label(f"label-{number}", f"ranking-{ranking}", doc_id, number, ("click",))


def texts_of(column: Texts) -> list[str]:
    starts, text = column
    whole = text.tobytes()
    return [whole[start:end].decode() for start, end in pairwise(starts.tolist())]


def read_back(store: StoreReader, project: str, size: int = 2) -> dict[str, list[Event]]:
    """Return each ranking of a project with its labels in order, as they come back as columns.

    Event ids are not among the columns; they are empty.
    """
    contexts = store.contexts(project)
    found: dict[str, list[Event]] = {}
    for chunk in store.read(project, size=size):
        ids = texts_of(chunk.ranking_ids)
        doc_ids = texts_of(chunk.items.doc_ids)
        query_keys, user_ids = texts_of(chunk.query_keys), texts_of(chunk.user_ids)
        for at, (start, end) in enumerate(pairwise(chunk.items.offsets.tolist())):
            context = contexts[int(chunk.contexts[at])]
            columns = [
                [None if math.isnan(number) else number for number in column[start:end].tolist()]
                for column in (chunk.items.scores, chunk.items.relevance)
            ]
            found[ids[at]] = [
                Ranking(
                    "",
                    ids[at],
                    int(chunk.times[at]),
                    Items(
                        tuple(doc_ids[start:end]),
                        tuple(chunk.items.ranks[start:end].tolist()),
                        *(
                            () if column.count(None) == len(column) else tuple(column)
                            for column in columns
                        ),
                    ),
                    query_keys[at],
                    user_ids[at],
                    context.model,
                    context.version,
                    context.environment,
                    context.attributes,
                )
            ]
        labels = chunk.labels
        labelled = texts_of(labels.doc_ids)
        for at, place in enumerate(labels.rankings.tolist()):
            value = float(labels.values[at])
            found[ids[place]].append(
                Label(
                    "",
                    ids[place],
                    labelled[at],
                    int(labels.times[at]),
                    labels.names[labels.codes[at]],
                    None if math.isnan(value) else value,
                    LABEL_KINDS[labels.kinds[at]],
                )
            )
    return found
