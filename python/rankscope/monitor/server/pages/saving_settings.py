"""Takes the form of the settings."""

from __future__ import annotations

from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.monitor.server.api.schemas import form_of
from rankscope.monitor.server.endpoint import Endpoint
from rankscope.monitor.server.pages.settings_form import CHANGES, read_form
from rankscope.monitor.server.pages.settings_page import SETTINGS
from rankscope.monitor.server.pages.view_overview import read_configuration
from rankscope.monitor.server.pages.view_settings import view_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.desk import Desk
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.pages.page import Page
    from rankscope.monitor.server.pages.view_settings import SettingsView


class SavingSettings:
    """Takes the form of the settings.

    Args:
        desk: Asks the monitors of projects.
        fill: Makes the HTML of a page.
    """

    def __init__(self, desk: Desk, fill: Callable[[Page, Asked, SettingsView], str]) -> None:
        self._desk = desk
        self._fill = fill
        self.endpoint = Endpoint(
            "POST",
            SETTINGS.path,
            "admin",
            self.save,
            "form",
            "Change how the project is measured.",
            body=form_of(*CHANGES),
            status=303,
        )

    async def save(self, asked: Asked) -> Response:
        """Say how the project is measured, or show the form again with what is wrong."""
        return await self._desk.ask(asked.visitor, lambda monitor: self._save(monitor, asked))

    def _save(self, monitor: Monitor, asked: Asked) -> Response:
        configuration, form = read_form(asked.form, read_configuration(monitor))
        if configuration is None:
            return HTMLResponse(self._fill(SETTINGS, asked, view_settings(monitor, form)), 422)
        monitor.configure(configuration, actor=asked.visitor.actor)
        return RedirectResponse(SETTINGS.path, 303)
