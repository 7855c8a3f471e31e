"""A collector of traces that speaks OTLP over HTTP, as the real ones do."""

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class CollectedSpan:
    """A span as it arrived."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    facts: dict[str, Any]


class Collector:
    """The server: `with Collector() as collector: ...`."""

    def __init__(self) -> None:
        self.spans: list[CollectedSpan] = []

    def __enter__(self) -> Self:
        spans = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers.get("Content-Encoding") == "gzip"
                spans.extend(_read(gzip.decompress(body) if packed else body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    @property
    def url(self) -> str:
        """Where to send traces."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1/traces"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _read(body: bytes) -> list[CollectedSpan]:
    return [
        CollectedSpan(
            service=_facts(group.resource.attributes)["service.name"],
            name=span.name,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            facts=_facts(span.attributes),
        )
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def _facts(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
