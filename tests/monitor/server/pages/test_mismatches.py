"""The overview names labels and attributes that match nothing."""

from __future__ import annotations

from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR

from tests.monitor.server.pages.site import HOSTILE, as_json, check_page, get, open_monitor
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


def test_the_overview_names_them_whatever_they_contain(site: Service) -> None:
    shown = Ranking("r", "r", NOW - HOUR, Items(("a",), (1,)), attributes=(("Device", "tv"),))
    labels = [
        Label(name, "r", "a", NOW - HOUR + 1, labels=(name,)) for name in ("Click", f"{HOSTILE}")
    ]
    site.store.append("default", [shown, *labels])
    open_monitor(site.store)
    text = check_page(get(site, "/")).text
    assert "Label 'Click' isn't configured, so it doesn't count (1 of 2 labels)" in text
    assert "it looks like 'click'" in text
    assert "Attribute 'device' is missing in the only ranking; 'Device' looks like it." in text
    told = as_json(site.browser().get("/v1/overview"))["mismatches"]
    assert ("Click", "click") in {(one["name"], one["like"]) for one in told}
