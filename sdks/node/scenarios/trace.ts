// Traces go from who starts something to who does it.

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import assert from 'node:assert/strict'

import { Registry } from '../src/index.js'
import { scenario, startWork, WITHIN, working, Server } from './world.js'

scenario('trace', () =>
  Server.with(async (server) => {
    const spans = new InMemorySpanExporter()
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
    const seen: (string | undefined)[] = []
    const registry = new Registry().handler('work', async () => {
      await Promise.resolve()
      seen.push(trace.getActiveSpan()?.spanContext().spanId)
    })
    const client = server.client()
    const above = await working(server, registry, async () => {
      const [order, instance, execution] = await trace
        .getTracer('scenarios')
        .startActiveSpan('order', async (span) => [span, await startWork(client), await client.submit('work')] as const)
      order.end()
      await client.wait(instance, WITHIN)
      await client.waitExecution(execution, WITHIN)
      return order.spanContext()
    })
    const below = spans.getFinishedSpans().filter((span) => span.parentSpanContext?.spanId === above.spanId)
    assert.deepEqual(
      below.map((span) => [span.name, span.spanContext().traceId]),
      [
        ['process work', above.traceId],
        ['process work', above.traceId],
      ],
    )
    assert.deepEqual(below.map((span) => span.spanContext().spanId).sort(), seen.sort())
  }),
)
