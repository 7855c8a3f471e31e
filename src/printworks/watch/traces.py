"""Traces of requests and of the jobs that follow from them, for OpenTelemetry.

OpenTelemetry is imported only where `traces_endpoint` is set. Spans are sent from a thread of its
own, without the guard for outbound requests: the address is the operator's, and usually in the
private network that merchants' addresses must not lead to.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from printworks import __version__
from printworks.settings import Settings
from printworks.store.queue.jobs import Job
from printworks.trace_parent import caused_by

if TYPE_CHECKING:
    from opentelemetry.trace import Span

# A collector that is away must not hold up a stop for longer.
SECONDS_TO_EXPORT: Final = 5
_FIELDS: Final = ("traceparent", "tracestate")
_FIRST_FAILURE: Final = 500


def open_tracer(settings: Settings, role: str) -> "Tracer | None":
    """Return what traces this process, or None if nobody wants traces; call it after any fork."""
    return Tracer(settings, role) if settings.traces_endpoint else None


class Tracer:
    """Begins spans, and sends those that have ended."""

    def __init__(self, settings: Settings, role: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import SpanKind, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        facts = {
            "service.name": f"printworks-{role}",
            "service.version": __version__,
            "deployment.environment.name": settings.environment,
        }
        exporter = OTLPSpanExporter(endpoint=settings.traces_endpoint, timeout=SECONDS_TO_EXPORT)
        self._provider = TracerProvider(resource=Resource.create(facts), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("printworks", __version__)
        self._propagator = TraceContextTextMapPropagator()
        self._kinds = SpanKind
        self._error = StatusCode.ERROR

    def begin_request(self, name: str, headers: Mapping[str, str]) -> "RequestSpan":
        """Begin the span of a request, as a part of the client's trace if it names one."""
        carried = {field: headers[field] for field in _FIELDS if field in headers}
        span = self._tracer.start_span(
            name, context=self._propagator.extract(carried), kind=self._kinds.SERVER
        )
        return RequestSpan(span, _write_parent(span), self._error)

    @contextmanager
    def job(self, job: Job) -> "Iterator[Span]":
        """Trace a job: what it enqueues meanwhile follows from it."""
        carried = {"traceparent": job.trace_parent} if job.trace_parent else {}
        span = self._tracer.start_span(
            job.kind,
            context=self._propagator.extract(carried),
            kind=self._kinds.CONSUMER,
            attributes={"printworks.job": job.id, "printworks.attempt": job.attempts},
        )
        try:
            with caused_by(_write_parent(span)):
                yield span
        finally:
            span.end()

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


class RequestSpan:
    """The span of one request."""

    def __init__(self, span: "Span", parent: str, error: Any) -> None:
        self._span = span
        # What jobs of this request carry.
        self.parent = parent
        self._error = error

    def end(self, status: int, **facts: str | int) -> None:
        """End it with what was answered."""
        self._span.set_attribute("http.response.status_code", status)
        for name, fact in facts.items():
            self._span.set_attribute(f"printworks.{name}", fact)
        if status >= _FIRST_FAILURE:
            self._span.set_status(self._error)
        self._span.end()


def _write_parent(span: "Span") -> str:
    found = span.get_span_context()
    return f"00-{found.trace_id:032x}-{found.span_id:016x}-{int(found.trace_flags):02x}"
