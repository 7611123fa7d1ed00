import { REST_DEFAULT } from './address.js'
import type { Beat, EngineClient, Job, PollRequest, Progress, Standing, Variables } from './engine.js'
import { UnavailableError } from './errors.js'
import { Http, type HttpOptions } from './http.js'

const JOBS_PER_REQUEST_MAX = 1000

/** What an earlier attempt said of how far it came, as the server writes it. */
export type Said = { percent?: number | null; message?: string | null; data?: Variables | null } | null | undefined

interface WireJob {
  id: string
  jobType: string
  instanceId: string
  stepId: string
  stepExecutionId: string
  retriesRemaining: number
  variables: Variables
  lockExpiresAt: string
  lease?: number
  progress?: Said
  traceContext?: Record<string, string> | null
}

/** An `EngineClient` over `/v1`. */
export class RestEngine implements EngineClient {
  readonly #http: Http

  constructor(address = REST_DEFAULT, options: HttpOptions = {}) {
    this.#http = new Http(address, options)
  }

  async poll({ signal, ...body }: PollRequest): Promise<Job[]> {
    const timeoutMillis = (body.waitSeconds + 15) * 1000
    try {
      const answer = await this.#http.call('POST', '/v1/jobs/poll', { body, signal, timeoutMillis })
      return (answer as { jobs: WireJob[] }).jobs.map(fromWire)
    } catch (error) {
      if (signal.aborted && error instanceof UnavailableError) return []
      throw error
    }
  }

  async complete(workerId: string, job: Job, variables: Variables): Promise<void> {
    await this.#say(job, 'complete', { ...holder(workerId, job), variables })
  }

  async fail(
    workerId: string,
    job: Job,
    failure: { message: string; retryable: boolean; retryAfterMillis?: number | undefined },
  ): Promise<void> {
    const { message, retryable, retryAfterMillis } = failure
    const after = retryAfterMillis === undefined ? {} : { retryAfter: duration(retryAfterMillis) }
    await this.#say(job, 'fail', { ...holder(workerId, job), retryable, errorMessage: message, ...after })
  }

  async throwError(
    workerId: string,
    job: Job,
    error: { code: string; message: string; variables: Readonly<Variables> },
  ): Promise<void> {
    const { code: errorCode, message: errorMessage, variables } = error
    await this.#say(job, 'error', { ...holder(workerId, job), errorCode, errorMessage, variables })
  }

  async heartbeat(workerId: string, leaseSeconds: number, beats: Beat[]): Promise<Standing[]> {
    const standings: Standing[] = []
    for (let at = 0; at < beats.length; at += JOBS_PER_REQUEST_MAX) {
      const jobs = beats.slice(at, at + JOBS_PER_REQUEST_MAX).map(beatToWire)
      const answer = await this.#http.call('POST', '/v1/jobs/heartbeat', { body: { workerId, leaseSeconds, jobs } })
      standings.push(...(answer as { jobs: { status: Standing }[] }).jobs.map((one) => one.status))
    }
    return standings
  }

  async release(workerId: string, job: Job, delayMillis?: number): Promise<void> {
    if (delayMillis === undefined) await this.#say(job, 'release', holder(workerId, job))
    else await this.#say(job, 'snooze', { ...holder(workerId, job), duration: duration(delayMillis) })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  async #say(job: Job, what: string, body: Variables): Promise<void> {
    await this.#http.call('POST', `/v1/jobs/${encodeURIComponent(job.id)}/${what}`, { body })
  }
}

function holder(workerId: string, job: Job): Variables {
  return job.lease === 0 ? { workerId } : { workerId, lease: job.lease }
}

function beatToWire({ job, progress }: Beat): Variables {
  const lease = job.lease === 0 ? {} : { lease: job.lease }
  return progress === undefined ? { jobId: job.id, ...lease } : { jobId: job.id, ...lease, progress }
}

function fromWire(job: WireJob): Job {
  return {
    id: job.id,
    type: job.jobType,
    variables: job.variables,
    instanceId: job.instanceId,
    stepId: job.stepId,
    stepExecutionId: job.stepExecutionId,
    retriesRemaining: job.retriesRemaining,
    lockExpiresAt: new Date(job.lockExpiresAt),
    lease: job.lease ?? 0,
    progress: progressOf(job.progress),
    traceContext: job.traceContext ?? undefined,
  }
}

/** What an earlier attempt said. */
export function progressOf(said: Said): Progress | undefined {
  if (!said) return undefined
  return { percent: said.percent ?? undefined, message: said.message ?? undefined, data: said.data ?? {} }
}

function duration(millis: number): string {
  return `PT${(millis / 1000).toFixed(3)}S`
}
