"""Traces and metrics of requests for OpenTelemetry, if the environment says where to send them.

A trace has the method, the route, the status and the duration of a request. Paths, queries, hosts
and headers come from the client and are left out, and so are IDs and addresses of people.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from rankscope._names import quote
from rankscope.errors import UsageError
from rankscope.monitor.server.routing.middleware import METHODS

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


TRACES, METRICS = "TRACES", "METRICS"
"""The signals, as variables of the environment call them."""
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
DISABLED = "OTEL_SDK_DISABLED"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
SUPPORTED = "http/protobuf"
NAME, ATTRIBUTES = "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"
CONTEXT = frozenset({b"traceparent", b"tracestate"})
"""The headers that name the trace of the client."""
HIDDEN = "rankscope.scope"
"""The key of the request itself, which is never sent."""
LAST_SECONDS = 1.0
"""How long the last spans may take to be sent while the service ends."""


def find_endpoint(environment: Mapping[str, str], signal: str) -> str | None:
    """Return the variable that says where to send a signal; `None` if it is not to be sent.

    Examples:
        >>> find_endpoint({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, TRACES)
        'OTEL_EXPORTER_OTLP_ENDPOINT'
        >>> find_endpoint({}, TRACES) is None
        True
    """
    is_disabled = environment.get(DISABLED, "").lower() == "true"
    if is_disabled or environment.get(f"OTEL_{signal}_EXPORTER", "otlp") != "otlp":
        return None
    names = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", ENDPOINT)
    return next((name for name in names if environment.get(name)), None)


def trace_requests(app: ASGIApp) -> tuple[ASGIApp, Callable[[], None]]:
    """Return an application whose requests are traced, and what sends the rest at the end.

    Where nothing is to be sent, the application stays as it is.

    Raises:
        UsageError: OpenTelemetry is not installed, or another protocol is asked for.
    """
    found = [find_endpoint(os.environ, signal) for signal in (TRACES, METRICS)]
    variable = next(filter(None, found), None)
    if variable is None:
        return app, lambda: None
    if (protocol := os.environ.get(PROTOCOL, SUPPORTED)) != SUPPORTED:
        raise UsageError(
            f"{PROTOCOL}: expected {SUPPORTED}, found {quote(protocol)}",
            hint="send to the port of the collector for HTTP, usually 4318",
            code="no_telemetry",
        )
    try:
        from opentelemetry.instrumentation.asgi import (
            OpenTelemetryMiddleware,
        )

        providers = _make_providers()
    except ImportError as error:
        raise UsageError(
            f"{variable} is set, and OpenTelemetry is not installed",
            hint=f"install rankscope[telemetry], or unset {variable}",
            code="no_telemetry",
        ) from error
    tracing, metering = providers
    traced = OpenTelemetryMiddleware(
        partial(_answer, app),
        default_span_details=lambda shown: (shown["method"], {}),
        tracer_provider=tracing,
        meter_provider=metering,
        exclude_spans=["receive", "send"],
    )

    async def hide(scope: Scope, receive: Receive, send: Send) -> None:
        """Trace a request by what may be told of it."""
        shown = {
            "type": scope["type"],
            "method": scope["method"] if scope["method"] in METHODS else "_OTHER",
            "headers": [header for header in scope["headers"] if header[0] in CONTEXT],
            HIDDEN: scope,
        }
        await traced(shown, receive, send)

    def end() -> None:
        for provider in providers:
            provider.shutdown()

    def end_soon() -> None:
        ending = threading.Thread(target=end, name="rankscope-telemetry", daemon=True)
        ending.start()
        ending.join(LAST_SECONDS)

    return hide, end_soon


def _make_providers() -> tuple[TracerProvider, MeterProvider]:
    """Make what sends traces and metrics, as the variables of OpenTelemetry say."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
        OTLPMetricExporter,
    )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import (
        PeriodicExportingMetricReader,
    )
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    is_named = bool(os.environ.get(NAME)) or "service.name=" in os.environ.get(ATTRIBUTES, "")
    resource = Resource.create({} if is_named else {"service.name": "rankscope"})
    # At the end of the process they would wait for a collector that is gone.
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    readers = []
    if find_endpoint(os.environ, TRACES) is not None:
        tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    if find_endpoint(os.environ, METRICS) is not None:
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
    return tracing, MeterProvider(readers, resource=resource, shutdown_on_exit=False)


async def _answer(app: ASGIApp, shown: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that is traced, and name its route as soon as that is known."""
    from opentelemetry.trace import get_current_span

    scope: Scope = shown[HIDDEN]
    span = get_current_span()

    async def send_named(message: Message) -> None:
        route = scope.get("route")
        if message["type"] == "http.response.start" and route is not None:
            shown["route"] = route
            span.update_name(f"{shown['method']} {route.path}")
            span.set_attribute("http.route", route.path)
        await send(message)

    await app(scope, receive, send_named)
