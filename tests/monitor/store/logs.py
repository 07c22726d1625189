"""Generated events: small enough to meet each other often."""

from __future__ import annotations

from hypothesis import strategies as st
from rankscope.monitor.events.event import ENVIRONMENTS, LABEL_KINDS, Items, Label, Ranking

TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=5
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 0.5, 1.0, 3.0])
TIMES = st.integers(0, 5) | st.integers(-(2**50), 2**57)


@st.composite
def items(draw):
    doc_ids = draw(st.lists(st.sampled_from("abcdef") | TEXTS, unique=True, max_size=6))
    count = len(doc_ids)
    if draw(st.booleans()):
        ranks = list(range(1, count + 1))
    else:
        drawn = st.lists(st.integers(1, 2**32 - 1), min_size=count, max_size=count, unique=True)
        ranks = sorted(draw(drawn))
    columns = []
    for _ in range(2):
        column = draw(st.lists(st.none() | NUMBERS, min_size=count, max_size=count))
        columns.append(() if column.count(None) == count else tuple(column))
    return Items(tuple(doc_ids), tuple(ranks), *columns)


IDS = st.sampled_from("12345678")

rankings = st.builds(
    Ranking,
    event_id=IDS,
    ranking_id=st.sampled_from("pqrs"),
    time=TIMES,
    items=items(),
    query_key=st.sampled_from(["", "jazz", "日本"]),
    user_id=st.sampled_from(["", "u"]),
    model=st.just("m"),
    version=st.sampled_from(["3", "4"]),
    environment=st.sampled_from(ENVIRONMENTS),
    attributes=st.sampled_from([(), (("country", "de"), ("device", "tv")), (("a", "\n=1"),)]),
)

labels = st.builds(
    Label,
    event_id=IDS,
    ranking_id=st.sampled_from("pqrs"),
    doc_id=st.sampled_from("abc"),
    time=TIMES,
    labels=st.sampled_from([(), ("click",), ("click", "buy")]),
    value=st.none() | NUMBERS,
    kind=st.sampled_from(LABEL_KINDS),
)

events = rankings | labels
