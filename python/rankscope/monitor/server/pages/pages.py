"""The pages as routes: each looks at a monitor, and answers with HTML or, its twin, with JSON."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import quote

from starlette.responses import HTMLResponse, JSONResponse, Response

from rankscope.explain.write import html
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.static import name_files, serve_files
from rankscope.monitor.server.pages.alerts import ALERTS
from rankscope.monitor.server.pages.overview import OVERVIEW
from rankscope.monitor.server.pages.quality import QUALITY
from rankscope.monitor.server.pages.ranking import RANKING
from rankscope.monitor.server.pages.render import Frame, make_pages
from rankscope.monitor.server.pages.rule import NEW_RULE, RULE, RuleForms
from rankscope.monitor.server.pages.settings import SETTINGS, SavingSettings
from rankscope.monitor.server.pages.trace import TRACE
from rankscope.web.templating import read_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from rankscope.monitor.server.http.endpoint import Asked, Kind
    from rankscope.monitor.server.http.problems import RefusedRequestError
    from rankscope.monitor.server.pages.page import Page, View
    from rankscope.monitor.server.pool import Desk

PAGES = (OVERVIEW, TRACE, RANKING, ALERTS, NEW_RULE, RULE, QUALITY, SETTINGS)

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
        desk: Asks the monitors of projects.
        now: Gives the time, in microseconds since 1970 in UTC.
    """

    def __init__(self, desk: Desk, now: Callable[[], int]) -> None:
        self._desk = desk
        self._now = now
        self._templates = make_pages()
        own = files("rankscope.monitor.server.pages") / "templates"
        loaded = {
            "look.css": read_template("look.css").encode(),
            "explanation.css": html.STYLE.encode(),
            "pages.css": (own / "pages.css").read_bytes(),
            # Tables are sorted as those of reports are.
            "pages.js": read_template("report.js").encode() + (own / "pages.js").read_bytes(),
        }
        self._addresses = name_files(loaded)
        self.endpoints = (
            *serve_files(loaded),
            *self._list_endpoints(),
            *RuleForms(desk, self._fill).endpoints,
            SavingSettings(desk, self._fill).endpoint,
        )

    def show_problem(self, problem: RefusedRequestError, request_id: str) -> Response:
        """Make the page that says why a request was refused; to go on elsewhere takes none."""
        if "location" in problem.headers:
            return Response(status_code=problem.status, headers=problem.headers)
        text = self._templates.get_template("problem.html.j2").render(
            frame=self._frame(),
            problem=problem,
            request_id=request_id,
            title=TITLES.get(problem.status, "Request refused"),
        )
        return HTMLResponse(text, problem.status, problem.headers)

    def show_sign_in(self, wanted: str, problem: str) -> str:
        """Make the page with the form to sign in by: where to go next, and what went wrong."""
        return self._templates.get_template("sign_in.html.j2").render(
            frame=self._frame(), wanted=wanted, problem=problem
        )

    def _list_endpoints(self) -> Iterator[Endpoint]:
        for page in PAGES:
            # A twin first: its path is that of a page, too.
            if page.twin:
                told = self.tell(page)
                yield _row(page, page.twin, told, "twin")
            yield _row(page, page.path, self._show(page), "page")

    def _show(self, page: Page) -> Callable[[Asked], Awaitable[Response]]:
        async def answer(asked: Asked) -> Response:
            view = await self._desk.look(
                asked, lambda monitor: page.view(monitor, asked), is_trace=page.is_trace
            )
            # Filled by itself: the frame is of who asks, with the token of their forms.
            text = await self._desk.ask(asked.visitor, lambda _: self._fill(page, asked, view))
            return HTMLResponse(text)

        return answer

    def tell(self, page: Page) -> Callable[[Asked], Awaitable[Response]]:
        """Return the handler that answers with the twin of a page."""

        async def answer(asked: Asked) -> Response:
            return JSONResponse(
                await self._desk.look(
                    asked,
                    lambda monitor: page.view(monitor, asked).to_dict(),
                    is_trace=page.is_trace,
                )
            )

        return answer

    def _fill(self, page: Page, asked: Asked, view: View) -> str:
        visitor = asked.visitor
        query = asked.request.scope["query_string"].decode("latin-1")
        frame = self._frame(
            here=page.here,
            project=visitor.project,
            key=visitor.name or visitor.actor if visitor.actor != "local" else "",
            csrf=visitor.csrf,
            can_change="admin" in visitor.scopes,
            twin=_fill_path(page.twin, asked) + (f"?{query}" if query and page.twin else ""),
            now=self._now(),
        )
        template = self._templates.get_template(page.template)
        return template.render(frame=frame, view=view, **page.extras(view))

    def _frame(self, **said: object) -> Frame:
        styles = tuple(self._addresses[name] for name in STYLES)
        return Frame(styles=styles, script=self._addresses["pages.js"], **said)  # type: ignore[arg-type]  # as `Frame` has them


def _row(
    page: Page, path: str, answer: Callable[[Asked], Awaitable[Response]], kind: Kind
) -> Endpoint:
    return Endpoint(
        "GET",
        path,
        "read",
        answer,
        kind,
        page.summary,
        parameters=page.parameters,
        refuses=page.refuses,
    )


def _fill_path(path: str, asked: Asked) -> str:
    """Put into a path what was asked for."""
    for name, value in asked.request.path_params.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    return path
