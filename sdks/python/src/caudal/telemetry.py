"""Traces and metrics through OpenTelemetry's API, where ``opentelemetry-api`` is installed; nothing otherwise.

A job's span is a child of the span that started it: the server carries ``traceparent`` from there to the job. Where
spans and metrics go is for the program to say, with OpenTelemetry's own SDK.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from caudal.engine import Job
from caudal.outcome import Failed, Outcome

try:
    from opentelemetry import metrics, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:  # it is optional
    IS_INSTALLED = False
else:
    IS_INSTALLED = True

SCOPE = "caudal"


def current() -> dict[str, str]:
    """The headers that carry the current span to whoever does the work."""
    headers: dict[str, str] = {}
    if IS_INSTALLED:
        # What the server carries, whatever else the program propagates.
        TraceContextTextMapPropagator().inject(headers)
    return headers


class Telemetry:
    """What a runner tells of the jobs it does."""

    def __init__(self) -> None:
        if IS_INSTALLED:
            self._tracer = trace.get_tracer(SCOPE)
            meter = metrics.get_meter(SCOPE)
            self._jobs = meter.create_counter("caudal.worker.jobs", "{job}", "Jobs whose handler has ended")
            self._duration = meter.create_histogram("caudal.worker.job.duration", "s", "How long handlers take")
            self._running = meter.create_up_down_counter("caudal.worker.jobs.running", "{job}", "Handlers that run now")

    def observe(self, job: Job, run: Callable[[], Outcome]) -> Outcome:
        """Run a handler, seen."""
        return self._traced(job, run) if IS_INSTALLED else run()

    def _traced(self, job: Job, run: Callable[[], Outcome]) -> Outcome:
        about = {"messaging.system": "caudal", "messaging.destination.name": job.type}
        ids = {"messaging.message.id": job.id, "messaging.message.conversation_id": job.instance_id}
        begun = time.monotonic()
        self._running.add(1, about)
        with self._tracer.start_as_current_span(
            f"process {job.type}",
            context=TraceContextTextMapPropagator().extract(job.trace_context),
            kind=trace.SpanKind.CONSUMER,
            attributes={**about, **ids, "messaging.operation.name": "process"},
        ) as span:
            try:
                outcome = run()
            finally:
                self._running.add(-1, about)
            word = type(outcome).__name__.lower()
            span.set_attribute("caudal.outcome", word)
            if isinstance(outcome, Failed):
                span.set_status(trace.StatusCode.ERROR, outcome.message)
        ended = {**about, "caudal.outcome": word}
        self._jobs.add(1, ended)
        self._duration.record(time.monotonic() - begun, ended)
        return outcome
