"""What labels make of documents, and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.grades import Graded, grade_chunk
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR

from tests.monitor.chunks import make_chunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import LabelKind
RULE: dict[str, Any] = {"positive": {"click": 1, "buy": 5}, "window": 3600}
SHOWN = Ranking("r", "r", 0, Items(("a", "b", "ab"), (1, 2, 3)))
NAN = float("nan")


def told(
    kind: LabelKind, doc_id: str, time: int, *labels: str, value: float | None = None
) -> Label:
    """A label whose id is when it happened."""
    return Label(f"{time:020}{kind}", "r", doc_id, time, labels, value, kind)


def grade(*labels: Label, now: int | None = 2 * HOUR, **rule: Any) -> Graded:  # noqa: ANN401 - of `define`
    """What is known of the documents of one ranking."""
    return grade_chunk(make_chunk([SHOWN], *labels)[0], define(**RULE | rule), now)


CLICK, BUY = told("label", "b", 1, "click"), told("label", "b", 2, "buy")
GRADES: dict[str, tuple[list[Label], dict[str, Any], float]] = {
    "labels add": ([CLICK, BUY], {}, 1 + 5),
    "the most counts": ([CLICK, BUY], {"combine": "max"}, 5),
    "a label adds each time": ([CLICK, told("label", "b", 3, "click")], {}, 2),
    "or once": ([CLICK, told("label", "b", 3, "click")], {"repeats": "once"}, 1),
    "others are worth nothing": ([told("label", "b", 1, "view")], {}, 0),
    "no label is no relevance": ([], {}, 0),
    "or not known": ([], {"unlabelled": None}, NAN),
    "a correction takes the place": ([BUY, told("correction", "b", 3, "click")], {}, 1),
    "and later labels add": ([told("correction", "b", 0, "click"), BUY], {}, 1 + 5),
    "a retraction takes all away": ([CLICK, BUY, told("retraction", "b", 3)], {}, 0),
    "but not what comes later": ([told("retraction", "b", 0), BUY], {}, 5),
    "a grade that was sent": ([told("label", "b", 1, value=0.5)], {}, 0.5),
    "grades add": ([told("label", "b", 1, value=2), told("label", "b", 2, value=3)], {}, 5),
    "to labels": ([CLICK, told("label", "b", 2, value=3)], {}, 1 + 3),
    "a grade below none": ([told("label", "b", 1, value=-3)], {"combine": "max"}, -3),
    "the largest of both": ([BUY, told("label", "b", 3, value=3)], {"combine": "max"}, 5),
    "time counts, not order": ([told("correction", "b", 9, "click"), BUY], {}, 1),
    "before its ranking": ([told("label", "b", -7, "click")], {}, 1),
    "to the last moment": ([told("label", "b", HOUR - 1, "click")], {}, 1),
    "not after it": ([told("label", "b", HOUR, "click")], {}, 0),
    "nor takes away after it": ([CLICK, told("retraction", "b", HOUR)], {}, 1),
}


@pytest.mark.parametrize(("labels", "rule", "wanted"), GRADES.values(), ids=GRADES)
def test_the_grade_of_a_document(labels: list[Label], rule: dict[str, Any], wanted: float) -> None:
    found = grade(*labels, **rule).relevance
    rest = NAN if "unlabelled" in rule else 0.0
    assert np.array_equal(found, [rest, wanted, rest], equal_nan=True)


def test_labels_that_do_not_count_are_counted() -> None:
    unshown = [told("label", "B", 1, "click"), told("label", "a ", 1, "click")]
    graded = grade(CLICK, *unshown, told("label", "b", HOUR, "buy"))
    assert (graded.unshown.tolist(), graded.late.tolist()) == ([2], [1])
    assert graded.ages.tolist() == [1]
