"""The documents of one ranking, as columns: checks them, and puts them in rank order."""

from __future__ import annotations

import math
from operator import ge

from rankscope.monitor.events import Items, unless_all_none
from rankscope.monitor.fields import read_id, read_number
from rankscope.monitor.refusal import RefusedError, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.limits import Limits


def read_items(
    doc_ids: Sequence[object],
    ranks: Sequence[object] | None,
    scores: Sequence[object] | None,
    relevance: Sequence[object] | None,
    limits: Limits,
) -> tuple[Items, list[str]]:
    """Read the documents of a ranking.

    Args:
        doc_ids: The documents.
        ranks: Their ranks, from 1 or from 0; `None` where they are in rank order.
        scores: Their scores, if there are any; null is none.
        relevance: Their grades, likewise.
        limits: How many there may be.

    Returns:
        The documents in rank order, and what is to be noted: `zero_based_ranks`, `rank_gaps`,
        `rank_score_disagree`, `int_ids`, `empty_ranking`.

    Raises:
        RefusedError: They cannot be meant.
    """
    count = len(doc_ids)
    if count > limits.items:
        raise RefusedError(
            "items", f"at most {limits.items} documents", str(count), code="max_group"
        )
    notes = [] if count else ["empty_ranking"]
    ids = _read_ids(doc_ids, limits, notes)
    places = None if ranks is None else _read_ranks(ranks, limits, notes)
    columns = (
        _read_numbers(scores, "score", "score_not_number"),
        _read_numbers(relevance, "relevance", "rel_not_number"),
    )
    if places is None:
        return Items(ids, tuple(range(1, count + 1)), *columns), notes
    if any(map(ge, places, places[1:])):
        order = sorted(range(count), key=places.__getitem__)
        places = tuple(places[at] for at in order)
        ids = tuple(ids[at] for at in order)
        columns = tuple(tuple(column[at] for at in order) if column else () for column in columns)  # type: ignore[assignment]
    if places and places[-1] != count:
        notes.append("rank_gaps")
    known = [score for score in columns[0] if score is not None]
    if known != sorted(known, reverse=True):
        notes.append("rank_score_disagree")
    return Items(ids, places, *columns), notes


def _read_ids(doc_ids: Sequence[object], limits: Limits, notes: list[str]) -> tuple[str, ...]:
    # Whole columns are looked at first, for most of them are good.
    is_text = set(map(type, doc_ids)) <= {str}
    joined = "".join(doc_ids) if is_text else "\0"  # type: ignore[arg-type]  # as was just seen
    is_plain = joined.isascii() and "\0" not in joined
    sizes = list(map(len, doc_ids)) if is_plain else []  # type: ignore[arg-type]  # likewise
    if is_plain and min(sizes, default=1) > 0 and max(sizes, default=1) <= limits.id_bytes:
        ids: tuple[str, ...] = tuple(doc_ids)  # type: ignore[arg-type]  # likewise
    else:
        ids = tuple(
            read_id(one, f"items[{at}].doc_id", limits.id_bytes) for at, one in enumerate(doc_ids)
        )
        if not is_text:
            notes.append("int_ids")
    if len(set(ids)) < len(ids):
        seen: dict[str, int] = {}
        for at, one in enumerate(ids):
            if one in seen:
                raise RefusedError(
                    f"items[{at}].doc_id",
                    "each document once",
                    f"{show(one)} again, as at items[{seen[one]}]",
                    code="duplicate_doc",
                )
            seen[one] = at
    return ids


def _read_ranks(ranks: Sequence[object], limits: Limits, notes: list[str]) -> tuple[int, ...]:
    if set(map(type, ranks)) == {int} and list(ranks) == list(range(1, len(ranks) + 1)):
        return tuple(ranks)  # type: ignore[arg-type]  # as was just seen
    for at, rank in enumerate(ranks):
        is_whole = type(rank) is int or (isinstance(rank, float) and rank.is_integer())
        if not is_whole or not 0 <= rank <= limits.rank:  # type: ignore[operator]  # it is a number
            raise RefusedError(
                f"items[{at}].rank",
                f"a whole number from 1 to {limits.rank}",
                show(rank),
                code="bad_rank",
            )
    places = tuple(map(int, ranks))  # type: ignore[arg-type]  # as was just seen
    if len(set(places)) < len(places):
        at = next(at for at, rank in enumerate(places) if rank in places[:at])
        raise RefusedError(
            f"items[{at}].rank",
            "each rank once",
            f"{places[at]} again, as at items[{places.index(places[at])}]",
            code="duplicate_rank",
        )
    if 0 in places:
        notes.append("zero_based_ranks")
        return tuple(rank + 1 for rank in places)
    return places


def _read_numbers(
    values: Sequence[object] | None, name: str, code: str
) -> tuple[float | None, ...]:
    if values is None:
        return ()
    if set(map(type, values)) <= {float} and all(map(math.isfinite, values)):  # type: ignore[arg-type]
        return tuple(values)  # type: ignore[arg-type]  # as was just seen
    return unless_all_none(
        None if value is None else read_number(value, f"items[{at}].{name}", code)
        for at, value in enumerate(values)
    )
