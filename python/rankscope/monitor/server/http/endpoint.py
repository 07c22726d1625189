"""An endpoint: its path, method, parameters, answers, and handler."""

from __future__ import annotations

from types import MappingProxyType

from starlette.convertors import Convertor, register_url_convertor

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any, Literal, TypeAlias

    from starlette.requests import Request
    from starlette.responses import Response

    from rankscope.monitor.server.access.principal import Visitor
    from rankscope.monitor.server.http.query import Parameter
    from rankscope.monitor.store.keys import Scope

    Kind: TypeAlias = Literal["api", "page", "twin", "form", "file"]
    Schema: TypeAlias = Mapping[str, Any]

JSON = "application/json"


@record(frozen=True, slots=True)
class Asked:
    """What is asked at an endpoint, once it is known that it may be.

    Args:
        request: The request.
        visitor: Who asks.
        query: The parameters that were given, by name, as they were read.
        form: The fields of a form, by name, each as often as it was given.
        body: The object of JSON that was sent, where the endpoint takes one.
    """

    request: Request
    visitor: Visitor
    query: Mapping[str, Any]
    form: Mapping[str, tuple[str, ...]]
    body: Mapping[str, Any]

    def field(self, name: str) -> str:
        """Give a field of a form that has one value, empty text if it was not given."""
        return self.form.get(name, ("",))[0]

    def part(self, name: str) -> str:
        """Give what stands in the path for a name in braces."""
        return str(self.request.path_params[name])


@record(frozen=True, slots=True)
class Endpoint:
    """A route.

    | kind | is | key | without it | answers |
    |---|---|---|---|---|
    | `api` | for programs | in the header | 401 | JSON |
    | `page` | for people | session, or in the header | to the sign-in | HTML |
    | `twin` | a page for programs | session, or in the header | 401 | JSON |
    | `form` | what a page sends | session, and its token | to the sign-in | HTML, or to a page |
    | `file` | what pages load | none | | its own type |

    Args:
        method: Of HTTP.
        path: Of the address; a name in braces stands for an id, `{name:id}` for one that may
            have slashes.
        scope: What a key needs to be let in, or `None` where none is needed.
        answer: Answers what is asked.
        kind: Whom it is for.
        summary: What it does, in a line.
        parameters: What a query may say; all else is refused.
        body: The schema of what it takes, or `None`; of a form, the schema of its fields without
            the token, which all forms of a session have.
        accepts: The types that a body may be of; where it is one of JSON, it is an object that is
            read before the endpoint answers.
        result: The schema of what it answers, or `None` if that is not JSON.
        gives: The media type of what it answers (default: that of its kind).
        status: The status of an answer if all is well.
        refuses: Statuses of refusals that don't follow from the other fields.
        also: Other answers by status: a schema, or `None` for an answer without content.
    """

    method: str
    path: str
    scope: Scope | None
    answer: Callable[[Asked], Awaitable[Response]]
    kind: Kind = "api"
    summary: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: Schema | None = None
    accepts: tuple[str, ...] = (JSON,)
    result: Schema | None = None
    gives: str = ""
    status: int = 200
    refuses: tuple[int, ...] = ()
    also: Mapping[int, Schema | None] = MappingProxyType({})


class AnyId(Convertor[str]):
    """What stands for an id in the path of a route, as `{ranking_id:id}`."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        """Give the id."""
        return value

    def to_string(self, value: str) -> str:
        """Give its text."""
        return value


def register_ids() -> None:
    """Let paths have ids."""
    register_url_convertor("id", AnyId())
