"""Names that match nothing are in the answer to what was sent."""

from __future__ import annotations

from rankscope.monitor import Configuration, define

from tests.monitor.server.service import NOW, make_label, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service

CONFIGURATION = Configuration(
    definition=define(positive="click", window="1h"), attributes=("device",), baseline=None
)


def test_the_answer_names_what_does_not_match(service: Service) -> None:
    service.store.configure("music", CONFIGURATION.to_json(), NOW, "test")
    rankings = [make_ranking(number, attributes={"Device": "tv"}) for number in range(3)]
    (told,) = service.post("/v1/rankings", rankings).json()["mismatches"]
    assert (told["kind"], told["name"], told["like"]) == ("missing_attribute", "device", "Device")
    labels = [make_label(number, labels=[name]) for number, name in enumerate(("Click", "view"))]
    found = service.post("/v1/labels", labels).json()["mismatches"]
    assert [(one["name"], one["like"], one["count"], one["of"]) for one in found] == [
        ("Click", "click", 1, 2),
        ("view", "", 1, 2),
    ]
    assert service.post("/v1/labels", make_label(5)).json()["mismatches"] == []


def test_before_a_project_is_configured_nothing_is_said(service: Service) -> None:
    assert service.post("/v1/labels", make_label(1, labels="Click")).json()["mismatches"] == []
