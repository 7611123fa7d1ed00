// Spans and metrics of a runner, with exporters in memory.

import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { NonRetryableError } from '../src/index.js'
import { run } from '../src/outcome.js'
import { Registry } from '../src/registry.js'
import { currentTrace, telemetry } from '../src/telemetry.js'
import { FakeContext } from '../src/testing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

const spans = new InMemorySpanExporter()
const exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 3_600_000 })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))

test('a job is a span below the one that started it', async () => {
  let inside: string | undefined
  const registry = new Registry()
    .handler('good', () => {
      inside = trace.getActiveSpan()?.spanContext().spanId
    })
    .handler('bad', () => {
      throw new NonRetryableError('no luck')
    })
  const observe = telemetry()
  const traceContext = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=b' }
  for (const type of ['good', 'bad']) {
    const job = new FakeContext({ type, instanceId: '7', traceContext })
    await observe(job.job, () => run(registry.find(type), job))
  }
  const [good, bad] = spans.getFinishedSpans()
  assert.ok(good && bad)
  for (const span of [good, bad]) {
    assert.deepEqual([span.parentSpanContext?.traceId, span.parentSpanContext?.spanId], [TRACE, SPAN])
    assert.equal(span.spanContext().traceState?.serialize(), 'a=b')
  }
  assert.equal(good.spanContext().spanId, inside)
  assert.deepEqual(bad.status, { code: SpanStatusCode.ERROR, message: 'no luck' })
  await reader.forceFlush()
  const seen = exported.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? []
  const points = (name: string) => seen.find((metric) => metric.descriptor.name === name)?.dataPoints ?? []
  assert.deepEqual(
    points('caudal.worker.jobs').map((point) => [point.attributes['caudal.outcome'], point.value]),
    [
      ['completed', 1],
      ['failed', 1],
    ],
  )
  assert.deepEqual(
    points('caudal.worker.jobs.running').map((point) => point.value),
    [0, 0],
  )
  assert.equal(points('caudal.worker.job.duration').length, 2)
})

test('the current span is sent', () => {
  assert.deepEqual(currentTrace(), {})
  const span = trace.getTracer('test').startSpan('order')
  const { traceId, spanId } = span.spanContext()
  const sent = context.with(trace.setSpan(context.active(), span), currentTrace)
  assert.deepEqual(sent, { traceparent: `00-${traceId}-${spanId}-01` })
})
