"""A service tells an OpenTelemetry collector of its requests, and nothing of what was asked."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from rankscope.errors import UsageError
from rankscope.monitor.server.run.tracing import find_endpoint, trace_requests

from tests.services.running import command, poll, run_service

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
MARK = "jabberwocky"


class Collector:
    """What was exported to it."""

    def __init__(self):
        self.bodies = {"/v1/traces": [], "/v1/metrics": []}
        self.url = ""

    def spans(self):
        exported = [ExportTraceServiceRequest.FromString(one) for one in self.bodies["/v1/traces"]]
        return [
            span
            for request in exported
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def metrics(self):
        exported = self.bodies["/v1/metrics"]
        return {
            metric.name
            for one in exported
            for resource in ExportMetricsServiceRequest.FromString(one).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@contextmanager
def collecting():
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            collector.bodies[self.path].append(body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield collector
        server.shutdown()
        thread.join(10)


def read(span):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_requests_are_spans_of_their_routes_and_nothing_of_them_is_told(tmp_path, monkeypatch):
    store = tmp_path / "music.db"
    key = command("monitor", "key", "make", str(store), "ann", "--scope", "admin", "read").strip()
    headers = {
        "authorization": f"Bearer {key}",
        "user-agent": MARK,
        "x-forwarded-for": MARK,
        "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
    }
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "200")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        with run_service(store) as url, httpx.Client(base_url=url, timeout=60) as client:
            assert client.get("/healthz").status_code == 200
            asked = client.get(f"/v1/rankings/{MARK}?{MARK}=1", headers=headers)
            assert asked.status_code == 422
            assert client.get(f"/{MARK}").status_code == 404
            assert client.get("/healthz?%ff=1").status_code == 400
            poll(lambda: len(collector.spans()) >= 4, "four spans")
            poll(lambda: collector.metrics() >= {"http.server.duration"}, "metrics of requests")
    named = {span.name: span for span in collector.spans()}
    assert set(named) == {"GET /healthz", "GET /v1/rankings/{ranking_id:id}", "GET"}
    ranking = named["GET /v1/rankings/{ranking_id:id}"]
    assert ranking.trace_id.hex() == TRACE
    assert read(ranking)["http.route"] == "/v1/rankings/{ranking_id:id}"
    assert read(ranking)["http.status_code"] == 422
    for bodies in collector.bodies.values():
        assert not any(MARK.encode() in body or key.encode() in body for body in bodies)
        assert any(b"deployment.environment.name" in body for body in bodies)
        assert any(b"rankscope" in body for body in bodies)


def test_a_collector_that_is_gone_holds_up_neither_requests_nor_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with run_service(tmp_path / "music.db") as url:
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
    # It ended in time, without being killed.
    assert "ending.forced" not in (tmp_path / "music.log").read_text()


def test_without_an_endpoint_nothing_is_traced(monkeypatch):
    app = object()
    assert trace_requests(app)[0] is app
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert trace_requests(app)[0] is app


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, {"TRACES", "METRICS"}),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a"}, {"TRACES"}),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://a"}, {"METRICS"}),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_METRICS_EXPORTER": "none"},
            {"TRACES"},
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, set()),
    ],
)
def test_each_signal_is_sent_where_the_environment_says(environment, sent):
    signals = {"TRACES", "METRICS"}
    assert {one for one in signals if find_endpoint(environment, one) is not None} == sent


def test_another_protocol_is_an_error(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    app = object()
    with pytest.raises(UsageError, match="expected http/protobuf, found 'grpc'"):
        trace_requests(app)


def test_an_endpoint_without_the_library_is_an_error(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.instrumentation.asgi", None)
    app = object()
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set") as caught:
        trace_requests(app)
    assert "rankscope[telemetry]" in (caught.value.hint or "")
