"""Spans and metrics of a runner, with exporters in memory."""

from __future__ import annotations

import unittest
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from caudal import Job, JobContext, Registry, Runner
from tests.test_runner import Engine

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"

SPANS, METRICS = InMemorySpanExporter(), InMemoryMetricReader()


def setUpModule() -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(SPANS))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([METRICS]))


def points(name: str) -> list[Any]:
    data = METRICS.get_metrics_data()
    assert data is not None
    scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
    return [
        point
        for scope in scopes
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


class Telemetry(unittest.TestCase):
    def test_a_job_is_a_span_below_the_one_that_started_it(self) -> None:
        traced = {"traceparent": PARENT}
        jobs = [Job("1", "work", {}, instance_id="7", trace_context=traced), Job("2", "odd", {}, trace_context=traced)]
        engine, registry, seen = Engine(*jobs), Registry(), []

        @registry.handler("work")
        async def work(context: JobContext) -> None:
            seen.append(trace.get_current_span().get_span_context().span_id)

        @registry.handler("odd")
        def odd(context: JobContext) -> None:
            raise ValueError("no luck")

        with Runner(registry, engine):
            engine.wait_said(2)
        spans = {span.name: span for span in SPANS.get_finished_spans()}
        good, bad = spans["process work"], spans["process odd"]
        for span in (good, bad):
            assert span.parent is not None and span.context is not None and span.attributes is not None
            self.assertEqual(f"{span.context.trace_id:032x}", TRACE)
            self.assertEqual(f"{span.parent.span_id:016x}", "b7ad6b7169203331")
        assert good.context is not None and good.attributes is not None
        self.assertEqual([good.context.span_id], seen)
        self.assertEqual(good.attributes["messaging.message.conversation_id"], "7")
        self.assertEqual((bad.status.status_code, bad.status.description), (trace.StatusCode.ERROR, "no luck"))
        counted = {point.attributes["caudal.outcome"]: point.value for point in points("caudal.worker.jobs")}
        self.assertEqual(counted, {"completed": 1, "failed": 1})
        self.assertEqual([point.count for point in points("caudal.worker.job.duration")], [1, 1])
        self.assertEqual([point.value for point in points("caudal.worker.jobs.running")], [0, 0])
