/**
 * The gRPC transport of a runner. Needs the packages `@grpc/grpc-js` and `@grpc/proto-loader`.
 *
 * Numbers are doubles on this wire: integers beyond 2^53 lose digits.
 */

import * as grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fileURLToPath } from 'node:url'

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
import * as json from './json.js'

const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
const CALL_MILLIS_MAX = 30_000
const AGAIN = [grpc.status.UNAVAILABLE, grpc.status.RESOURCE_EXHAUSTED, grpc.status.DEADLINE_EXCEEDED]
const CONFLICTS = [grpc.status.FAILED_PRECONDITION, grpc.status.ABORTED, grpc.status.ALREADY_EXISTS]

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
  readonly #gateway: grpc.Client
  readonly #metadata = new grpc.Metadata()

  constructor(address: string, options: GrpcOptions = {}) {
    const [scheme, target = ''] = address.split('://')
    const secure = options.credentials ?? grpc.credentials.createSsl()
    const credentials = scheme === 'grpcs' ? secure : grpc.credentials.createInsecure()
    const channel = { 'grpc.max_receive_message_length': MESSAGE_BYTES_MAX, 'grpc.max_reconnect_backoff_ms': 5000 }
    const files = ['worker', 'gateway'].map((name) => fileURLToPath(new URL(`../proto/${name}.proto`, import.meta.url)))
    const services = grpc.loadPackageDefinition(loadSync(files, { oneofs: true, longs: String, defaults: true }))
    const find = (path: string): grpc.ServiceClientConstructor =>
      path.split('.').reduce((at: unknown, name) => (at as Record<string, unknown>)[name], services) as never
    this.#engine = new (find('workflow.v1.WorkflowEngine'))(target, credentials, channel)
    this.#gateway = new (find('gateway_protocol.Gateway'))(target, credentials, channel)
    for (const [name, value] of Object.entries(options.headers ?? {})) this.#metadata.set(name, value)
    if (options.token !== undefined) this.#metadata.set('authorization', `Bearer ${options.token}`)
  }

  async poll({ signal, ...request }: PollRequest): Promise<Job[]> {
    const millis = (request.waitSeconds + 15) * 1000
    try {
      const answer = await this.#call(this.#engine, 'PollJobs', request, millis, signal)
      return (answer as { jobs: WireJob[] }).jobs.map(fromWire)
    } catch (error) {
      if (signal.aborted && error instanceof UnavailableError) return []
      throw error
    }
  }

  async complete(workerId: string, job: Job, variables: Variables): Promise<void> {
    const request = { jobId: job.id, workerId, variablesToSet: toStruct(variables), lease: job.lease }
    await this.#call(this.#engine, 'CompleteJob', request)
  }

  async fail(
    workerId: string,
    job: Job,
    failure: { message: string; retryable: boolean; retryAfterMillis?: number | undefined },
  ): Promise<void> {
    const { message: errorMessage, retryable, retryAfterMillis } = failure
    const request = { jobId: job.id, workerId, retryable, errorMessage, lease: job.lease }
    const after = retryAfterMillis === undefined ? {} : { retryAfterMillis: Math.round(retryAfterMillis) }
    await this.#call(this.#engine, 'FailJob', { ...request, ...after })
  }

  async throwError(
    _workerId: string,
    job: Job,
    error: { code: string; message: string; variables: Readonly<Variables> },
  ): Promise<void> {
    const variables = json.stringify(error.variables)
    const request = { jobKey: job.id, errorCode: error.code, errorMessage: error.message, variables }
    await this.#call(this.#gateway, 'ThrowError', request)
  }

  heartbeat(workerId: string, leaseSeconds: number, beats: Beat[]): Promise<Standing[]> {
    return Promise.all(beats.map((beat) => this.#beat(workerId, leaseSeconds, beat)))
  }

  async release(workerId: string, job: Job, delayMillis?: number): Promise<void> {
    const delay = delayMillis === undefined ? 0 : Math.max(1, Math.round(delayMillis))
    await this.#call(this.#engine, 'ReleaseJob', { jobId: job.id, workerId, lease: job.lease, delayMillis: delay })
  }

  close(): Promise<void> {
    this.#engine.close()
    this.#gateway.close()
    return Promise.resolve()
  }

  async #beat(workerId: string, leaseSeconds: number, { job, progress }: Beat): Promise<Standing> {
    const said = progress && {
      ...(progress.percent === undefined ? {} : { percent: progress.percent }),
      ...(progress.message === undefined ? {} : { message: progress.message }),
      data: toStruct(progress.data ?? {}),
    }
    const request = { jobId: job.id, workerId, lease: job.lease, leaseSeconds, ...said }
    try {
      return ((await this.#call(this.#engine, 'Heartbeat', request)) as { status: Standing }).status
    } catch (error) {
      if (error instanceof NotFoundError) return 'UNKNOWN'
      throw error
    }
  }

  #call(
    client: grpc.Client,
    name: string,
    request: object,
    millis = CALL_MILLIS_MAX,
    signal?: AbortSignal,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const method = (client as unknown as Record<string, Method>)[name] as Method
      const options = { deadline: Date.now() + millis }
      const call = method.call(client, request, this.#metadata, options, (error, answer) => {
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
function toStruct(variables: Variables): WireStruct {
  return structOf(
    JSON.parse(
      JSON.stringify(variables, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)),
    ) as Variables,
  )
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
  if (AGAIN.includes(code) || code === grpc.status.CANCELLED) {
    return new UnavailableError(`${details} (${grpc.status[code]})`, { cause: error })
  }
  const name = grpc.status[code]
  if (code === grpc.status.NOT_FOUND) return new NotFoundError(404, name, details)
  if (CONFLICTS.includes(code)) return new ConflictError(409, name, details)
  return new ApiError(400, name, details)
}
