"""The pages as routes: each looks at a monitor, and answers with HTML."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import chain
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from rankscope._explain import html
from rankscope._web.templating import make_environment, read_style, read_template
from rankscope.monitor.links import Links
from rankscope.monitor.server import pages as package
from rankscope.monitor.server.api.notifications import Notifying
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.channels import make_channel_page
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.render import FILTERS, Frame
from rankscope.monitor.server.pages.rules import show_fields
from rankscope.monitor.server.routing.endpoint import Call, Endpoint, Route, make_endpoints
from rankscope.monitor.server.routing.pool import MonitorPool
from rankscope.monitor.server.routing.static import name_files, serve_files

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.types import Scope


STYLES = ("look.css", "explanation.css", "pages.css")

TITLES = {
    403: "Not allowed",
    404: "Page not found",
    409: "This project isn’t set up yet",
    422: "Invalid request",
    429: "Too many requests",
    500: "Internal error",
    503: "Service unavailable",
}


class Pages:
    """The pages of the service.

    Args:
        pool: Asks the monitors of projects.
        now: Returns the time, in microseconds since 1970 in UTC.
        notifying: Knows the channels of the operator.
        slow: Asks the monitors where that may take long.
    """

    def __init__(
        self,
        pool: MonitorPool,
        now: Callable[[], int],
        notifying: Notifying,
        slow: MonitorPool,
    ) -> None:
        self._pool = pool
        self._now = now
        self._templates = make_templates()
        channel_page, channel_form = make_channel_page(notifying)
        self._pages = (*find_pages(), channel_page)
        own = files("rankscope.monitor.server.pages") / "templates"
        loaded = {
            "look.css": read_style().encode(),
            "explanation.css": html.STYLE.encode(),
            "pages.css": (own / "pages.css").read_bytes() + show_fields().encode(),
            # The first remembers the page as delivered, before the others write into it. Tables
            # are sorted as those of reports are.
            "pages.js": b"\n".join(
                [
                    (own / "refresh.js").read_bytes(),
                    read_template("report.js").encode(),
                    *((own / name).read_bytes() for name in ("times.js", "chart.js")),
                ]
            ),
        }
        self._addresses = name_files(loaded)
        self.endpoints = (
            *serve_files(loaded),
            *self._list_endpoints(),
            *make_endpoints(
                (channel_form, *chain.from_iterable(list_modules("FORMS"))),
                pool,
                slow,
                self._respond,
            ),
        )

    def show_problem(self, problem: RefusedRequestError, scope: Scope) -> Response:
        """Make the page that says why a request was refused; to go on elsewhere takes none."""
        if "location" in problem.headers:
            return Response(status_code=problem.status, headers=problem.headers)
        text = self._templates.get_template("problem.html.j2").render(
            frame=self._frame(scope["state"]["links"]),
            problem=problem,
            request_id=scope["state"]["request_id"],
            title=TITLES.get(problem.status, "Request refused"),
        )
        return HTMLResponse(text, problem.status, problem.headers)

    def show(self, template: str, call: Call, view: object) -> str:
        """Make a page outside of projects."""
        frame = self._frame_of(call, is_global=True)
        return self._templates.get_template(template).render(frame=frame, view=view)

    def _list_endpoints(self) -> Iterator[Endpoint]:
        for page in self._pages:
            yield Endpoint(
                "GET",
                page.path,
                page.scope,
                self._show(page),
                "page",
                page.summary,
                query=page.query,
                refuses=page.refuses,
                is_global=page.is_global,
            )

    def _show(self, page: Page) -> Callable[[Call], Awaitable[Response]]:
        async def answer(call: Call) -> Response:
            view = await self._pool.read(
                call, lambda monitor: page.view(monitor, call), is_trace=page.is_trace
            )
            # Filled by itself: the frame is of who asks, with the token of their forms.
            text = await self._pool.run(call.principal, lambda _: self._fill(page, call, view))
            return HTMLResponse(text)

        return answer

    def _respond(self, _form: Route, call: Call, done: str | tuple[Page, object, int]) -> Response:
        """Answer a form: go on at a path of the project, or fill a page."""
        if isinstance(done, str):
            return RedirectResponse(call.links(done), 303)
        page, view, status = done
        return HTMLResponse(self._fill(page, call, view), status)

    def _fill(self, page: Page, call: Call, view: object) -> str:
        frame = self._frame_of(
            call,
            is_global=page.is_global,
            here=page.here,
            now=self._now(),
            refresh=page.refresh,
        )
        template = self._templates.get_template(page.template)
        return template.render(frame=frame, view=view)

    def _frame_of(self, call: Call, *, is_global: bool, **said: object) -> Frame:
        principal = call.principal
        return self._frame(
            call.links,
            project="" if is_global else principal.project,
            has_others=not is_global and len(principal.readable) > 1,
            person=principal.person,
            csrf=principal.csrf,
            can_change="edit" in principal.scopes,
            can_manage="admin" in principal.scopes,
            is_operator=principal.is_operator,
            **said,
        )

    def _frame(self, links: Links, **said: object) -> Frame:
        styles = tuple(self._addresses[name] for name in STYLES)
        places = tuple((page.here, page.path) for page in self._pages if page.place)
        script = self._addresses["pages.js"]
        return Frame(links=links, places=places, styles=styles, script=script, **said)  # type: ignore[arg-type]  # as `Frame` has them


@cache
def make_templates() -> Environment:
    """Make the environment of the templates, once for all services of a process."""
    environment = make_environment(package.__name__, extra="monitor")
    environment.filters |= FILTERS
    for words in list_modules("WORDS", {}):
        environment.globals |= words
    return environment


def list_modules(name: str, default: object = ()) -> Iterator[Any]:
    """Yield what each module of this folder has under a name."""
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        yield getattr(import_module(module.name), name, default)


def find_pages() -> tuple[Page, ...]:
    """Return the pages that the modules of this folder name in `PAGES`, by place."""
    pages = chain.from_iterable(list_modules("PAGES"))
    return tuple(sorted(pages, key=lambda page: (page.place == 0, page.place)))
