"""Rules, alerts and where they are told, for programs."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from rankscope.errors import UsageError
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.monitor.server.api import schemas
from rankscope.monitor.server.api.parameters import LIMIT
from rankscope.monitor.server.http.endpoint import Endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk

RULE = "/v1/rules/{name}"


class Rules:
    """Answers how rules stand, and changes them.

    Args:
        desk: Asks monitors.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.endpoints = (
            Endpoint(
                "GET",
                "/v1/rules",
                "read",
                self.list_rules,
                summary="How the rules stand.",
                result=schemas.RULES,
            ),
            Endpoint(
                "GET",
                RULE,
                "read",
                self.get_rule,
                summary="How a rule stands.",
                result=schemas.RULE_STATE,
            ),
            Endpoint(
                "PUT",
                RULE,
                "admin",
                self.put_rule,
                summary="Make a rule, or change it.",
                body=schemas.NEW_RULE,
                result=schemas.RULE,
            ),
            Endpoint(
                "DELETE", RULE, "admin", self.remove_rule, summary="Remove a rule.", status=204
            ),
            Endpoint(
                "POST",
                f"{RULE}/silence",
                "admin",
                self.silence_rule,
                summary="Tell nobody of a rule until some time.",
                body=schemas.SILENCE,
                status=204,
            ),
            Endpoint(
                "POST",
                f"{RULE}/resolve",
                "admin",
                self.resolve_rule,
                summary="Let a rule begin anew, in the state OK.",
                status=204,
            ),
            Endpoint(
                "GET",
                "/v1/alerts",
                "read",
                self.list_alerts,
                summary="Changes of the states of rules, the newest first.",
                parameters=(LIMIT,),
                result=schemas.ALERTS,
            ),
        )

    async def list_rules(self, asked: Asked) -> Response:
        """List how the rules stand."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {"rules": [write_state(state) for state in monitor.check()]}

        return JSONResponse(await self._desk.look(asked, read))

    async def get_rule(self, asked: Asked) -> Response:
        """Give how a rule stands."""
        name = asked.part("name")

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            for state in monitor.check():
                if state.rule.name == name:
                    return write_state(state)
            raise UsageError(
                "expected the name of a rule, found another", hint="list them", code="no_rule"
            )

        return JSONResponse(await self._desk.look(asked, read))

    async def put_rule(self, asked: Asked) -> Response:
        """Make a rule, or change it."""
        name = asked.part("name")

        def change(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            rule = Rule.from_dict({"name": name, **asked.body})
            if rule.name != name:
                raise UsageError(
                    "name: expected the name that is in the address, found another",
                    hint="remove the rule and make another; a name stays",
                    code="bad_rule",
                )
            monitor.set_rule(rule, actor=asked.visitor.actor)
            return next(one.to_dict() for one in monitor.rules() if one.name == name)

        return JSONResponse(await self._desk.ask(asked.visitor, change))

    async def remove_rule(self, asked: Asked) -> Response:
        """Remove a rule."""
        await self._desk.ask(
            asked.visitor,
            lambda monitor: monitor.remove_rule(asked.part("name"), actor=asked.visitor.actor),
        )
        return Response(status_code=204)

    async def silence_rule(self, asked: Asked) -> Response:
        """Tell nobody of a rule for a while."""
        given = asked.body["until"]

        def change(monitor: Monitor) -> None:
            until = None if given is None else to_datetime(read_time(given, "until")[0])
            monitor.silence(asked.part("name"), until, actor=asked.visitor.actor)

        await self._desk.ask(asked.visitor, change)
        return Response(status_code=204)

    async def resolve_rule(self, asked: Asked) -> Response:
        """Let a rule begin anew."""
        await self._desk.ask(
            asked.visitor,
            lambda monitor: monitor.resolve(asked.part("name"), actor=asked.visitor.actor),
        )
        return Response(status_code=204)

    async def list_alerts(self, asked: Asked) -> Response:
        """List alerts."""
        limit = asked.query.get("limit", 100)

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {"alerts": [alert.to_dict() for alert in monitor.alerts(limit)]}

        return JSONResponse(await self._desk.look(asked, read))


def write_state(state: RuleState) -> dict[str, Any]:
    """Write how a rule stands, with times as people read them."""
    said = state.to_dict()
    for stream in said["streams"]:
        _write_times(stream, "since", "at")
    return _write_times(said, "since", "evaluated", "following", "silenced_until")


def _write_times(said: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        said[name] = None if said[name] is None else format_time(said[name])
    return said
