"""The page of expected values."""

from __future__ import annotations

import pytest
from rankscope.monitor.definition.configuration import Configuration

from tests.monitor.server.pages.site import DEFINITION, check_page, get, open_monitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


@pytest.mark.slow
def test_it_says_what_a_version_without_a_calibration_needs(told_story: Service) -> None:
    page = check_page(get(told_story, "/expected?range=all&every=day")).text
    assert "A version needs 500 final rankings with a value, on 4 days or more." in page
    assert "No day with a forecast has become final in this range." in page


def test_a_project_without_rankings_has_no_forecasts(site: Service) -> None:
    open_monitor(site.store, Configuration(definition=DEFINITION, baseline=None))
    assert "There are no forecasts in this range." in check_page(get(site, "/expected")).text
