/**
 * The gRPC transport of a runner. Needs the packages `@grpc/grpc-js` and `@grpc/proto-loader`.
 *
 * Numbers are doubles on this wire: integers beyond 2^53 lose digits.
 */

import * as grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fileURLToPath } from 'node:url'

import { headersOf, locate, unusable } from './address.js'
import type {
  Beat,
  ConnectionOptions,
  EngineClient,
  Job,
  PollRequest,
  Progress,
  Standing,
  Variables,
} from './engine.js'
import { ApiError, ConflictError, NotFoundError, UnavailableError } from './errors.js'

const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
const CALL_MILLIS_MAX = 30_000
const BEATS_PER_CALL_MAX = 1000
/** A connection that is gone is noticed though nothing is said on it, and made again soon. */
const CHANNEL = {
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  'grpc.max_reconnect_backoff_ms': 5000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
}
const AGAIN = [
  grpc.status.CANCELLED,
  grpc.status.UNKNOWN,
  grpc.status.DEADLINE_EXCEEDED,
  grpc.status.RESOURCE_EXHAUSTED,
  grpc.status.INTERNAL,
  grpc.status.UNAVAILABLE,
  grpc.status.DATA_LOSS,
]
/** The package says so itself of a message that it cannot send. It would be the same again and again. */
const NOT_SENT = /^(Request message serialization failure|Attempted to send message with a size larger)/
const CONFLICTS = [grpc.status.FAILED_PRECONDITION, grpc.status.ABORTED, grpc.status.ALREADY_EXISTS]
/** What REST would have said; 400 of all others. */
const STATUS: Partial<Record<grpc.status, number>> = {
  [grpc.status.PERMISSION_DENIED]: 403,
  [grpc.status.OUT_OF_RANGE]: 413,
  [grpc.status.UNAUTHENTICATED]: 401,
  [grpc.status.UNIMPLEMENTED]: 501,
}

export interface GrpcOptions extends ConnectionOptions {
  /** For authorities and client certificates of your own. */
  credentials?: grpc.ChannelCredentials
}

interface WireValue {
  kind?: string
  numberValue?: number
  stringValue?: string
  boolValue?: boolean
  structValue?: WireStruct
  listValue?: { values: WireValue[] }
}

interface WireStruct {
  fields: Record<string, WireValue>
}

interface WireJob {
  id: string
  jobType: string
  instanceId: string
  stepId: string
  stepExecutionId: string
  retriesRemaining: number
  variables: WireStruct | null
  lockExpiresAt: { seconds: string; nanos: number } | null
  lease: number
  progress: WireStruct | null
  traceContext: Record<string, string>
}

type Method = (
  request: object,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  callback: (error: grpc.ServiceError | null, answer: unknown) => void,
) => grpc.ClientUnaryCall

/** An `EngineClient` over `workflow.v1.WorkflowEngine`. */
export class GrpcEngine implements EngineClient {
  readonly #engine: grpc.Client
  readonly #metadata = new grpc.Metadata()

  constructor(address: string, options: GrpcOptions = {}) {
    const { protocol, host, pathname } = locate(address, 'grpc', 'grpcs')
    if (pathname !== '' && pathname !== '/') throw unusable(address, 'it must have no path')
    const secure = options.credentials ?? grpc.credentials.createSsl()
    const credentials = protocol === 'grpcs:' ? secure : grpc.credentials.createInsecure()
    const file = fileURLToPath(new URL('../proto/worker.proto', import.meta.url))
    const services = grpc.loadPackageDefinition(loadSync(file, { oneofs: true, longs: String, defaults: true }))
    const { v1 } = services['workflow'] as { v1: { WorkflowEngine: grpc.ServiceClientConstructor } }
    this.#engine = new v1.WorkflowEngine(host, credentials, CHANNEL)
    for (const [name, value] of Object.entries(headersOf(options))) this.#metadata.set(name, value)
  }

  async poll({ signal, ...request }: PollRequest): Promise<Job[]> {
    const millis = (request.waitSeconds + 15) * 1000
    try {
      const answer = await this.#call('PollJobs', request, millis, signal)
      return (answer as { jobs: WireJob[] }).jobs.map(fromWire)
    } catch (error) {
      if (signal.aborted && error instanceof UnavailableError) return []
      throw error
    }
  }

  async complete(workerId: string, job: Job, variables: Variables): Promise<void> {
    const request = { jobId: job.id, workerId, variablesToSet: toStruct(variables), lease: job.lease }
    await this.#call('CompleteJob', request)
  }

  async fail(
    workerId: string,
    job: Job,
    failure: { message: string; retryable: boolean; retryAfterMillis?: number | undefined },
  ): Promise<void> {
    const { message: errorMessage, retryable, retryAfterMillis } = failure
    const request = { jobId: job.id, workerId, retryable, errorMessage, lease: job.lease }
    const after = retryAfterMillis === undefined ? {} : { retryAfterMillis: whole(retryAfterMillis) }
    await this.#call('FailJob', { ...request, ...after })
  }

  async throwError(
    workerId: string,
    job: Job,
    error: { code: string; message: string; variables: Readonly<Variables> },
  ): Promise<void> {
    const { code: errorCode, message: errorMessage } = error
    const request = { jobId: job.id, workerId, lease: job.lease, errorCode, errorMessage }
    await this.#call('ThrowError', { ...request, variables: toStruct(error.variables) })
  }

  async heartbeat(workerId: string, leaseSeconds: number, beats: Beat[]): Promise<Standing[]> {
    const standings: Standing[] = []
    for (let at = 0; at < beats.length; at += BEATS_PER_CALL_MAX) {
      const jobs = beats.slice(at, at + BEATS_PER_CALL_MAX).map((beat) => toBeat(workerId, leaseSeconds, beat))
      const answer = await this.#call('Heartbeats', { jobs })
      standings.push(...(answer as { jobs: { status: Standing }[] }).jobs.map((one) => one.status))
    }
    return standings
  }

  async release(workerId: string, job: Job, delayMillis?: number): Promise<void> {
    // None at all is a job given back.
    const delay = delayMillis === undefined ? 0 : whole(delayMillis) || 1
    await this.#call('ReleaseJob', { jobId: job.id, workerId, lease: job.lease, delayMillis: delay })
  }

  close(): Promise<void> {
    this.#engine.close()
    return Promise.resolve()
  }

  #call(name: string, request: object, millis = CALL_MILLIS_MAX, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const method = (this.#engine as unknown as Record<string, Method>)[name] as Method
      const options = { deadline: Date.now() + millis }
      const call = method.call(this.#engine, request, this.#metadata, options, (error, answer) => {
        signal?.removeEventListener('abort', cancel)
        if (error) reject(failure(error))
        else resolve(answer)
      })
      const cancel = () => {
        call.cancel()
      }
      if (signal?.aborted === true) cancel()
      else signal?.addEventListener('abort', cancel)
    })
  }
}

function toBeat(workerId: string, leaseSeconds: number, { job, progress }: Beat): object {
  const said = progress && {
    ...(progress.percent === undefined ? {} : { percent: progress.percent }),
    ...(progress.message === undefined ? {} : { message: progress.message }),
    data: toStruct(progress.data ?? {}),
  }
  return { jobId: job.id, workerId, lease: job.lease, leaseSeconds, ...said }
}

function whole(millis: number): number {
  const rounded = Math.round(millis)
  if (!Number.isSafeInteger(rounded)) throw new RangeError(`${millis} milliseconds cannot be said`)
  return rounded
}

function fromWire(job: WireJob): Job {
  const until = job.lockExpiresAt
  return {
    id: job.id,
    type: job.jobType,
    variables: fromStruct(job.variables),
    instanceId: job.instanceId,
    stepId: job.stepId,
    stepExecutionId: job.stepExecutionId,
    retriesRemaining: job.retriesRemaining,
    lockExpiresAt: new Date(until === null ? 0 : Number(until.seconds) * 1000 + until.nanos / 1e6),
    lease: job.lease,
    progress: job.progress === null ? undefined : (fromStruct(job.progress) as Progress),
    traceContext: job.traceContext,
  }
}

function fromStruct(struct: WireStruct | null): Variables {
  return Object.fromEntries(Object.entries(struct?.fields ?? {}).map(([name, value]) => [name, fromValue(value)]))
}

function fromValue(value: WireValue): unknown {
  switch (value.kind) {
    case 'structValue':
      return fromStruct(value.structValue ?? null)
    case 'listValue':
      return (value.listValue?.values ?? []).map(fromValue)
    case 'numberValue':
      return value.numberValue
    case 'stringValue':
      return value.stringValue
    case 'boolValue':
      return value.boolValue
    default:
      return null
  }
}

/** By way of JSON, so that dates and the like become what REST makes of them. */
function toStruct(variables: Readonly<Variables>): WireStruct {
  return structOf(
    JSON.parse(
      JSON.stringify(variables, (_, item: unknown) => (typeof item === 'bigint' ? double(item) : item)),
    ) as Variables,
  )
}

/** Refuses what would arrive as another number. */
function double(integer: bigint): number {
  const number = Number(integer)
  if (Number.isFinite(number) && BigInt(number) === integer) return number
  const detail = `${integer} is no double, as numbers are over gRPC: use REST, or write it as text`
  throw new ApiError(400, 'INVALID_ARGUMENT', detail)
}

function structOf(object: Variables): WireStruct {
  return { fields: Object.fromEntries(Object.entries(object).map(([name, value]) => [name, valueOf(value)])) }
}

function valueOf(value: unknown): WireValue {
  if (typeof value === 'number') return { numberValue: value }
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (Array.isArray(value)) return { listValue: { values: value.map(valueOf) } }
  if (value !== null && typeof value === 'object') return { structValue: structOf(value as Variables) }
  return { nullValue: 0 } as WireValue
}

function failure(error: grpc.ServiceError): Error {
  const { code, details } = error
  const name = grpc.status[code]
  if (NOT_SENT.test(details)) return new ApiError(400, name, details)
  if (AGAIN.includes(code)) return new UnavailableError(`${details} (${name})`, { cause: error })
  if (code === grpc.status.NOT_FOUND) return new NotFoundError(404, name, details)
  if (CONFLICTS.includes(code)) return new ConflictError(409, name, details)
  return new ApiError(STATUS[code] ?? 400, name, details)
}
