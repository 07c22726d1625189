"""Numeric attributes are in bins that always mean the same range."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import FormatError, UsageError
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.events.bins import find_bin, name_bins, read_number
from rankscope.monitor.setup.file import read_setup

from tests.refusals import refuses

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
CLICKS = define(measures=["nDCG@3"], positive="click", window="1h")
TABLE: dict[str, Any] = {
    "ranking_id": ["t1", "t1", "t2"],
    "doc_id": ["a", "b", "a"],
    "rank": [1, 2, 1],
    "time": [FIRST.isoformat()] * 3,
}
"""Two rankings, a document a row."""
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def configure(**said: object) -> Configuration:
    return Configuration(definition=CLICKS, attributes=("device", "price"), baseline=None, **said)  # type: ignore[arg-type]


def show(day: int, prices: list[Any], name: str = "r", **more: object) -> list[dict[str, Any]]:
    return [
        {
            "ranking_id": f"{name} {day} {at}",
            "time": (FIRST + timedelta(days=day, minutes=at % 60)).isoformat(),
            "attributes": {"device": "tv", "price": price},
            "items": [{"doc_id": doc, "rank": rank} for rank, doc in enumerate("abc", 1)],
            **more,
        }
        for at, price in enumerate(prices)
    ]


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Monitor]:
    with Monitor.open(f"{tmp_path}/shop.db", now=lambda: FIRST + timedelta(days=30)) as opened:
        opened.configure(configure())
        yield opened


def list_prices(monitor: Monitor) -> set[str | None]:
    contexts = monitor.store.contexts("default").values()
    return {dict(context.attributes).get("price") for context in contexts}


@given(st.lists(NUMBERS, min_size=1, max_size=19, unique=True), NUMBERS)
def test_a_number_is_in_the_bin_whose_edges_are_around_it(
    edges: list[float], number: float
) -> None:
    ascending = tuple(each + 0.0 for each in sorted(edges))
    names = name_bins(ascending)
    assert len({*names}) == len(ascending) + 1
    place = bisect_right(ascending, number)
    assert find_bin(repr(number), ascending) == names[place]
    # A name is its own bin, so that what was exported can be logged again.
    assert [find_bin(name, ascending) for name in names] == [*names]


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-inf", "1e999", "12,5", "1_0", " 1", "0x1", "\u0661", "1e", "."]
)
def test_what_is_no_finite_decimal_number_is_in_no_bin(text: str) -> None:
    assert read_number(text) is None
    assert find_bin(text, (1.0,)) is None


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"price": ()}, "bins.price: expected from 1 to 19 ascending numbers, found"),
        ({"price": (2, 1)}, "ascending"),
        ({"price": (1, 1)}, "ascending"),
        ({"price": (0.0, -0.0)}, "ascending"),
        ({"price": (1, float("nan"))}, "ascending"),
        ({"price": tuple(range(20))}, "from 1 to 19"),
        ({"price": (True, 2)}, "ascending"),
        ({"price": (1, 10**400)}, "ascending"),
        ({"price": "quintiles"}, "ascending"),
        ({"age": (1, 2)}, "bins of the attributes"),
    ],
)
def test_edges_are_ascending_numbers_of_an_attribute(bins: dict[str, object], message: str) -> None:
    with refuses(UsageError, "bad_configuration", match=message) as caught:
        configure(bins=bins)
    assert caught.value.hint


def test_nineteen_edges_are_kept_as_they_were_given() -> None:
    made = configure(bins={"price": list(range(19))})
    assert made.bins == {"price": tuple(map(float, range(19)))}
    assert Configuration.from_json(made.to_json()) == made
    assert made.digest != configure().digest


def test_a_number_is_stored_as_its_bin_and_known_again_by_what_was_sent(monitor: Monitor) -> None:
    monitor.configure(configure(bins={"price": (10, 25)}))
    sent = show(0, [9.99, 10, "24.9", 25, None, "10 to below 25"])
    assert monitor.log_rankings(sent).accepted == 6
    assert list_prices(monitor) == {"below 10", "10 to below 25", "25 or more", None}
    assert len(monitor.store.contexts("default")) == 4
    # Other edges don't make another event of one that is sent again, nor move what is stored.
    monitor.configure(configure(bins={"price": (5, 50)}))
    assert monitor.log_rankings(sent[:5]).duplicate == 5
    assert list_prices(monitor) == {"below 10", "10 to below 25", "25 or more", None}
    assert monitor.log_rankings(show(1, [7])).accepted == 1
    assert "5 to below 50" in list_prices(monitor)


@pytest.mark.parametrize("environment", ["production", "validation"])
def test_what_is_no_number_is_rejected_with_its_place(monitor: Monitor, environment: str) -> None:
    monitor.configure(configure(bins={"price": (10, 25)}))
    sent = show(0, ["12,5", 7, True, "nan"], environment=environment)
    ingested = monitor.log_rankings(sent)
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_number": 3})
    message = "attributes.price: expected a finite number, found '12,5'"
    assert ingested.refused[0].message == message
    assert "12.5" in ingested.refused[0].hint
    columns = TABLE | {"environment": [environment] * 3, "price": ["9", "9", "cheap"]}
    ingested = monitor.log_rankings(pa.table(columns), attributes=["price"])
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_number": 1})
    assert list_prices(monitor) == {"below 10"}


def test_numbers_that_were_logged_before_are_in_bins_once_these_are_known(
    monitor: Monitor,
) -> None:
    monitor.log_rankings(show(0, [float(at) for at in range(100)]))
    monitor.configure(configure(bins={"price": (20, 40, 60, 80)}))
    assert list_prices(monitor) == {*name_bins((20.0, 40.0, 60.0, 80.0))}
    monitor.evaluate()
    of_bin = monitor.signals(every="day", slice=(("price", "20 to below 40"),))
    assert sum(of_bin["length"].rankings) == 20


def test_a_file_has_the_bins(tmp_path: Path) -> None:
    file = tmp_path / "rankscope.toml"
    said = '[projects.default]\nattributes = ["device", "price"]\nbaseline = "none"\n'
    of_file = (
        '[projects.default.definition]\nmeasures = ["nDCG@3"]\nwindow = "1h"\n'
        "attribution.positive.click = 1\n"
    )
    file.write_text(f"{said}bins = {{ price = [10, 25] }}\n{of_file}")
    (project,) = read_setup(str(file)).projects
    assert project.configuration == configure(bins={"price": (10, 25)})
    file.write_text(f"{said}bins = {{ price = [25, 10] }}\n{of_file}")
    with pytest.raises(FormatError, match=r"bins\.price: expected .* ascending"):
        read_setup(str(file))


def test_a_frame_with_nan_is_told_that_it_is_no_number(monitor: Monitor) -> None:
    monitor.configure(configure(bins={"price": (10, 25)}))
    ingested = monitor.log_rankings(TABLE | {"price": np.array([np.nan, np.nan, 12.5])})
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_type": 1})
    assert "price" in ingested.refused[0].message
    assert "found nan" in ingested.refused[0].message
