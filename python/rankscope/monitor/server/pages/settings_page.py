"""The page of the settings."""

from __future__ import annotations

from rankscope.monitor.baseline_names import BASELINES, describe_baseline
from rankscope.monitor.durations import write_duration
from rankscope.monitor.label_weights import write_weight
from rankscope.monitor.limits import SECOND
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.settings_form import KEPT
from rankscope.monitor.server.pages.view_settings import SettingsView, view_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked


def _view(monitor: Monitor, _asked: Asked) -> SettingsView:
    return view_settings(monitor)


def _extras(view: SettingsView) -> dict[str, object]:
    configuration, choices = view.configuration, dict(BASELINES)
    if configuration is not None and configuration.baseline not in choices.values():
        choices[KEPT] = configuration.baseline
    return {
        "baselines": [(name, describe_baseline(each)) for name, each in choices.items()],
        "describe_baseline": describe_baseline,
        "write_duration": write_duration,
        "write_weight": write_weight,
        "second": SECOND,
    }


SETTINGS = Page(
    path="/settings",
    twin="/settings.json",
    here="Settings",
    template="settings.html.j2",
    summary="How the project is measured, and the form to change it by.",
    view=_view,
    extras=_extras,
)
