"""How a project is measured, and the form to change it by."""

from __future__ import annotations

from rankscope.monitor.server.pages.settings_form import fill_form, new_form
from rankscope.monitor.server.pages.view_overview import read_configuration
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.settings_form import SettingsForm


@record(frozen=True, slots=True, kw_only=True)
class SettingsView:
    """How a project is measured.

    Args:
        configuration: How; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        deleted_before: Before which time events were deleted, so that no values can be made of
            them any more; `None` if none ever were.
        form: The form.
    """

    configuration: Configuration | None
    now: int
    deleted_before: int | None
    form: SettingsForm

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        configuration, deleted = self.configuration, self.deleted_before
        return {
            "now": format_time(self.now),
            "configuration": configuration and configuration.to_dict(),
            "definition": configuration and configuration.definition.hash,
            "digest": configuration and configuration.digest.hex(),
            "deleted_before": None if deleted is None else format_time(deleted),
        }


def view_settings(monitor: Monitor, form: SettingsForm | None = None) -> SettingsView:
    """Look at how a project is measured.

    Args:
        monitor: The monitor of the project.
        form: What the form says, if not what is configured.
    """
    configuration = read_configuration(monitor)
    if form is None:
        form = new_form() if configuration is None else fill_form(configuration)
    return SettingsView(
        configuration=configuration,
        now=monitor.now(),
        deleted_before=monitor.store.deleted_before(monitor.project),
        form=form,
    )
