/** The one interface between a runner and a server. Transports stand behind it. */

import { beginnings, REST_DEFAULT, unusable } from './address.js'

export type Variables = Record<string, unknown>

/** How far a handler has come. `data` is for whoever goes on from there. */
export interface Progress {
  percent?: number | undefined
  message?: string | undefined
  data?: Variables | undefined
}

/** Work that is leased to this worker. */
export interface Job {
  id: string
  type: string
  variables: Variables
  instanceId: string
  stepId: string
  stepExecutionId: string
  retriesRemaining: number
  lockExpiresAt: Date
  /** The number of the lease. What is said for an older one is refused. */
  lease: number
  /** What an earlier attempt said last. */
  progress?: Progress | undefined
  /** `traceparent` and `tracestate` of whoever started it. */
  traceContext?: Record<string, string> | undefined
}

/** What became of a lease. */
export type Standing = 'HELD' | 'LOST' | 'CANCELLED' | 'COMPLETED' | 'UNKNOWN'

/** A sign of life for one job. */
export interface Beat {
  job: Job
  progress?: Progress | undefined
}

export interface PollRequest {
  workerId: string
  jobTypes: string[]
  maxJobs: number
  leaseSeconds: number
  /** How long to wait for the first job. */
  waitSeconds: number
  /** Ends the poll; it then gives no jobs. */
  signal: AbortSignal
}

/**
 * What a runner asks of a server. Every method throws `UnavailableError` when the same call may work later, and
 * `ApiError` when it never will. All but `poll` may be repeated.
 */
export interface EngineClient {
  poll(request: PollRequest): Promise<Job[]>
  complete(workerId: string, job: Job, variables: Variables): Promise<void>
  fail(
    workerId: string,
    job: Job,
    failure: { message: string; retryable: boolean; retryAfterMillis?: number | undefined },
  ): Promise<void>
  throwError(
    workerId: string,
    job: Job,
    error: { code: string; message: string; variables: Readonly<Variables> },
  ): Promise<void>
  /** Extends leases from now; says for each job what became of it, in the same order. */
  heartbeat(workerId: string, leaseSeconds: number, beats: Beat[]): Promise<Standing[]>
  /** Gives a job back, or puts it off. No retry is used up. */
  release(workerId: string, job: Job, delayMillis?: number): Promise<void>
  close(): Promise<void>
}

/** For every transport. None of it is ever shown. */
export interface ConnectionOptions {
  /** Sent as a bearer token. */
  token?: string
  /** Sent with every request, such as an API key. */
  headers?: Record<string, string>
}

/**
 * A transport by the address, `http://127.0.0.1:8080` without one: `http(s)://` is REST, `grpc(s)://` is gRPC, which needs the packages `@grpc/grpc-js` and
 * `@grpc/proto-loader`. `kafka://BROKER,BROKER?engine=http://SERVER` is Kafka, which needs `@platformatic/kafka`.
 */
export async function connect(address = REST_DEFAULT, options: ConnectionOptions = {}): Promise<EngineClient> {
  if (address === '' || /^https?:\/\//.test(address)) {
    const { RestEngine } = await import('./rest.js')
    return new RestEngine(address, options)
  }
  if (/^grpcs?:\/\//.test(address)) {
    const { GrpcEngine } = await import('./grpc.js')
    return new GrpcEngine(address, options)
  }
  if (address.startsWith('kafka://')) {
    const { byAddress } = await import('./kafka.js')
    return byAddress(address, options)
  }
  throw unusable(address, `it must begin with ${beginnings(['http', 'https', 'grpc', 'grpcs', 'kafka'])}`)
}
