/**
 * Traces and metrics through OpenTelemetry's API, where the package `@opentelemetry/api` is installed; nothing otherwise.
 *
 * A job's span is a child of the span that started it: the server carries `traceparent` from there to the job. Where spans
 * and metrics go is for the program to say, with OpenTelemetry's own SDK.
 */

import type * as Api from '@opentelemetry/api'

import type { Job } from './engine.js'
import type { Outcome } from './outcome.js'

const SCOPE = '@caudal/client'
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

// It is optional.
const api: typeof Api | undefined = await import('@opentelemetry/api').catch(() => undefined)

/** The headers that carry the current span to whoever does the work: what the server carries, whatever else is propagated. */
export function currentTrace(): Record<string, string> {
  const span = api?.trace.getSpanContext(api.context.active())
  if (api === undefined || span === undefined || !api.isSpanContextValid(span)) return {}
  const traceparent = `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`
  const tracestate = span.traceState?.serialize() ?? ''
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** Runs a handler. */
export type Observe = (job: Job, run: () => Promise<Outcome>) => Promise<Outcome>

/** What a runner tells of the jobs it does. */
export function telemetry(): Observe {
  return api === undefined ? (_, run) => run() : observer(api)
}

function observer(api: typeof Api): Observe {
  const tracer = api.trace.getTracer(SCOPE)
  const meter = api.metrics.getMeter(SCOPE)
  const jobs = meter.createCounter('caudal.worker.jobs', { unit: '{job}', description: 'Jobs whose handler has ended' })
  const duration = meter.createHistogram('caudal.worker.job.duration', {
    unit: 's',
    description: 'How long handlers take',
  })
  const running = meter.createUpDownCounter('caudal.worker.jobs.running', {
    unit: '{job}',
    description: 'Handlers that run now',
  })
  return (job, run) => {
    const about = { 'messaging.system': 'caudal', 'messaging.destination.name': job.type }
    const attributes = {
      ...about,
      'messaging.operation.name': 'process',
      'messaging.message.id': job.id,
      'messaging.message.conversation_id': job.instanceId,
    }
    const options = { kind: api.SpanKind.CONSUMER, attributes }
    return tracer.startActiveSpan(`process ${job.type}`, options, parent(api, job), async (span) => {
      const begun = performance.now()
      running.add(1, about)
      try {
        const outcome = await run()
        const ended = { ...about, 'caudal.outcome': outcome.kind }
        span.setAttribute('caudal.outcome', outcome.kind)
        if (outcome.kind === 'failed') {
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: outcome.message })
        }
        jobs.add(1, ended)
        duration.record((performance.now() - begun) / 1000, ended)
        return outcome
      } finally {
        running.add(-1, about)
        span.end()
      }
    })
  }
}

function parent(api: typeof Api, job: Job): Api.Context {
  const { traceparent = '', tracestate = '' } = job.traceContext ?? {}
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return api.ROOT_CONTEXT
  const span = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true }
  const state = tracestate === '' ? {} : { traceState: api.createTraceState(tracestate) }
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...span, ...state })
}
