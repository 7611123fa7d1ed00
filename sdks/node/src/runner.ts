import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'

import { REST_DEFAULT } from './address.js'
import { atMost, Backoff, pause, retry } from './backoff.js'
import { JobContext, type Loss } from './context.js'
import { connect, type EngineClient, type Job, type Progress, type Standing } from './engine.js'
import { ApiError, ConflictError, NotFoundError, UnavailableError } from './errors.js'
import { run, type Outcome } from './outcome.js'
import type { Registry } from './registry.js'
import { telemetry } from './telemetry.js'

const JOBS_PER_POLL_MAX = 100
/** For all that is left to do when the grace is over. */
const FAREWELL_MILLIS_MAX = 5000
const FAILURE_CHARS_MAX = 10_000
const WORDS = { completed: 'result', thrown: 'BPMN error', snoozed: 'snooze', abandoned: 'end' }

/** Where a runner says what it does; `console` will do. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
}

export interface RunnerOptions {
  workerId?: string
  /** How many handlers run at once; 10. */
  maxParallel?: number
  /** For how long a job is leased; 60, at least 5. Extended while its handler runs. */
  leaseSeconds?: number
  /** How long a poll waits for a job; 20. With 0 it does not, and the runner asks less and less often. */
  pollWaitSeconds?: number
  /** How long handlers may take to finish when the runner is stopped; 30. */
  graceSeconds?: number
  /** Nothing is said without one. */
  logger?: Logger
}

/** A job whose handler runs, or whose end is being reported. */
interface Running {
  context: JobContext
  /** Tells the handler when its lease must be over by this clock, whatever the server says or does not. */
  over: NodeJS.Timeout
}

/** Works on the jobs of a registry's types until it is stopped. */
export class Runner {
  readonly workerId: string
  readonly #registry: Registry
  readonly #address: string | EngineClient
  readonly #options: Required<Omit<RunnerOptions, 'workerId' | 'logger'>>
  readonly #logger: Logger | undefined
  readonly #stopping = new AbortController()
  readonly #givenUp = new AbortController()
  readonly #observe = telemetry()
  readonly #running = new Set<Running>()
  #waiting: (() => void)[] = []
  #whole: Promise<void> | undefined

  /** @param engine an address such as `http://127.0.0.1:8080`, which is taken without one or for an empty one, or `grpc://127.0.0.1:9090`, or a transport. */
  constructor(registry: Registry, engine: string | EngineClient = REST_DEFAULT, options: RunnerOptions = {}) {
    if (registry.jobTypes.length === 0) throw new TypeError('the registry has no handler')
    const { workerId, logger, ...rest } = options
    this.workerId = workerId ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
    this.#registry = registry
    this.#address = engine
    this.#logger = logger
    this.#options = { maxParallel: 10, leaseSeconds: 60, pollWaitSeconds: 20, graceSeconds: 30, ...rest }
  }

  /** Runs until `stop` is called, and has finished when this resolves. */
  run(): Promise<void> {
    this.#whole ??= this.#run()
    return this.#whole
  }

  /**
   * Takes no more jobs, lets what runs finish within the grace, tells the rest and gives their jobs back. Resolves when that
   * is done, at the latest five seconds after the grace; a handler that does not listen runs on.
   */
  async stop(): Promise<void> {
    if (!this.#stopping.signal.aborted) this.#logger?.info('stopping')
    this.#stopping.abort()
    this.#notify()
    await this.#whole
  }

  /** Runs until SIGTERM or SIGINT, then finishes as `stop` does. For a program of its own. */
  async runUntilSignal(): Promise<void> {
    const stop = () => void this.stop()
    process.once('SIGTERM', stop).once('SIGINT', stop)
    try {
      await this.run()
    } finally {
      process.off('SIGTERM', stop).off('SIGINT', stop)
    }
  }

  async #run(): Promise<void> {
    const engine = typeof this.#address === 'string' ? await connect(this.#address) : this.#address
    const leases = this.#keepLeases(engine)
    const taking = this.#takeJobs(engine)
    try {
      await Promise.race([taking, once(this.#stopping.signal, 'abort')])
    } finally {
      await this.#finish(engine, taking)
      await leases
    }
  }

  async #takeJobs(engine: EngineClient): Promise<void> {
    const { leaseSeconds, pollWaitSeconds: waitSeconds } = this.#options
    const { workerId } = this
    const { signal } = this.#stopping
    const backoff = new Backoff()
    for (let free = await this.#room(); free > 0; free = await this.#room()) {
      const asked = performance.now()
      const jobTypes = this.#registry.jobTypes
      const maxJobs = Math.min(free, JOBS_PER_POLL_MAX)
      let jobs: Job[]
      try {
        jobs = await engine.poll({ workerId, jobTypes, maxJobs, leaseSeconds, waitSeconds, signal })
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error
        const wait = backoff.next(error.options.retryAfterMillis)
        this.#logger?.warn(`no jobs (${error.message}); asking again in ${Math.round(wait)} ms`)
        await pause(wait, signal)
        continue
      }
      // A server that is stopping answers at once, and one that is not asked to wait.
      const waited = (performance.now() - asked) / 1000
      const isIdle = jobs.length > 0 || waited >= 1 || (waitSeconds > 0 && waited >= waitSeconds)
      if (isIdle) backoff.reset()
      else await pause(backoff.next(), signal)
      if (signal.aborted) await this.#giveBack(engine, jobs)
      else for (const job of jobs) this.#begin(engine, job)
    }
  }

  /** How many more handlers may run, when there is room or the runner stops. */
  async #room(): Promise<number> {
    while (!this.#stopping.signal.aborted && this.#running.size >= this.#options.maxParallel) await this.#change()
    return this.#stopping.signal.aborted ? 0 : this.#options.maxParallel - this.#running.size
  }

  #begin(engine: EngineClient, job: Job): void {
    const context: JobContext = new JobContext(job, (progress) => this.#progress(engine, running, progress))
    const running: Running = { context, over: this.#over(context, this.#options.leaseSeconds * 1000) }
    this.#running.add(running)
    void this.#do(engine, running)
  }

  async #do(engine: EngineClient, running: Running): Promise<void> {
    const { job } = running.context
    try {
      const outcome = await this.#observe(job, () => run(this.#registry.find(job.type), running.context))
      if (outcome.kind === 'failed') this.#logger?.warn(`job ${job.id} (${job.type}) failed: ${outcome.message}`)
      await this.#report(engine, job, outcome)
    } catch (error) {
      this.#logger?.warn(`job ${job.id} (${job.type}): its end could not be reported: ${String(error)}`)
    } finally {
      clearTimeout(running.over)
      this.#running.delete(running)
      this.#notify()
    }
  }

  #over(context: JobContext, millis: number): NodeJS.Timeout {
    // A handler that never ends does not keep a program that is stopped from leaving.
    return setTimeout(() => {
      context.lose('LEASE_LOST')
    }, millis).unref()
  }

  /** Said again until it is known to have been heard, or until it does not matter any more. */
  async #report(engine: EngineClient, job: Job, given: Outcome): Promise<void> {
    const backoff = new Backoff()
    let outcome = given
    let isCut = false
    while (!this.#givenUp.signal.aborted) {
      try {
        await this.#say(engine, job, outcome)
        return
      } catch (error) {
        if (error instanceof UnavailableError) {
          this.#logger?.warn(`job ${job.id}: its end is not known yet (${error.message})`)
          await pause(backoff.next(error.options.retryAfterMillis), this.#givenUp.signal)
        } else if (error instanceof NotFoundError || error instanceof ConflictError) {
          this.#logger?.warn(`job ${job.id} was no longer ours: ${error.message}`)
          return
        } else {
          this.#logger?.warn(`job ${job.id}: how it ended was refused: ${String(error)}`)
          if (isCut || isForbidden(error)) return
          isCut = outcome.kind === 'failed'
          outcome = instead(outcome, error)
        }
      }
    }
  }

  async #say(engine: EngineClient, job: Job, outcome: Outcome): Promise<void> {
    switch (outcome.kind) {
      case 'completed':
        return engine.complete(this.workerId, job, outcome.variables)
      case 'failed':
        return engine.fail(this.workerId, job, outcome)
      case 'thrown':
        return engine.throwError(this.workerId, job, outcome)
      case 'snoozed':
        return engine.release(this.workerId, job, outcome.delayMillis)
      case 'abandoned':
        this.#logger?.info(`job ${job.id}: ${outcome.loss}`)
    }
  }

  /** Extends all leases three times as often as needed; tells handlers whose lease is gone. */
  async #keepLeases(engine: EngineClient): Promise<void> {
    const every = (this.#options.leaseSeconds * 1000) / 3
    for (;;) {
      await pause(every, this.#givenUp.signal)
      if (this.#givenUp.signal.aborted) return
      const held = [...this.#running].filter((running) => running.context.loss === undefined)
      // A server that does not answer is asked again before they end.
      if (held.length > 0) await Promise.race([this.#beat(engine, held), pause(every, this.#givenUp.signal)])
    }
  }

  async #beat(engine: EngineClient, held: Running[]): Promise<void> {
    const asked = performance.now()
    const beats = held.map((running) => ({ job: running.context.job }))
    let standings: Standing[]
    try {
      standings = await engine.heartbeat(this.workerId, this.#options.leaseSeconds, beats)
    } catch (error) {
      this.#logger?.warn(`leases could not be extended: ${String(error)}`)
      return
    }
    const left = asked + this.#options.leaseSeconds * 1000 - performance.now()
    held.forEach((running, index) => {
      const standing = standings[index] ?? 'UNKNOWN'
      if (standing !== 'HELD') this.#lose(running, standing)
      else if (this.#running.has(running)) {
        clearTimeout(running.over)
        running.over = this.#over(running.context, left)
      }
    })
  }

  async #progress(engine: EngineClient, running: Running, progress: Progress): Promise<void> {
    const { job } = running.context
    try {
      const [standing] = await engine.heartbeat(this.workerId, this.#options.leaseSeconds, [{ job, progress }])
      if (standing !== undefined && standing !== 'HELD') this.#lose(running, standing)
    } catch (error) {
      this.#logger?.warn(`job ${job.id}: progress could not be said: ${String(error)}`)
    }
  }

  #lose(running: Running, standing: Standing): void {
    const loss: Loss = standing === 'CANCELLED' ? 'CANCELLED' : 'LEASE_LOST'
    // One whose end was reported meanwhile has not lost anything.
    if (this.#running.has(running)) running.context.lose(loss)
  }

  async #finish(engine: EngineClient, taking: Promise<void>): Promise<void> {
    this.#stopping.abort()
    // Why it took no more jobs is for whoever runs it.
    const taken = taking.catch(() => undefined)
    await atMost(this.#options.graceSeconds * 1000, this.#drained(taken))
    this.#givenUp.abort()
    const left = [...this.#running].map((running) => running.context)
    if (left.length > 0) this.#logger?.warn(`${left.length} handlers did not finish in time`)
    for (const context of left) context.lose('SHUTDOWN')
    const deadline = Date.now() + FAREWELL_MILLIS_MAX
    const jobs = left.map((context) => context.job)
    await atMost(FAREWELL_MILLIS_MAX, Promise.all([this.#giveBack(engine, jobs), taken]))
    if (typeof this.#address === 'string') await atMost(deadline - Date.now(), engine.close())
  }

  /** Resolves when nothing runs, and nothing more comes. */
  async #drained(taken: Promise<void>): Promise<void> {
    await taken
    while (this.#running.size > 0) await this.#change()
  }

  async #giveBack(engine: EngineClient, jobs: Job[]): Promise<void> {
    const one = async (job: Job) => {
      try {
        await retry(FAREWELL_MILLIS_MAX, () => engine.release(this.workerId, job))
      } catch (error) {
        this.#logger?.warn(`job ${job.id} could not be given back: it is free when its lease ends (${String(error)})`)
      }
    }
    await Promise.all(jobs.map(one))
  }

  /** Resolves when a job has ended or the runner is to stop. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** What is said when how a job ended is refused and would be again and again: a failure with the reason, for people to see. */
function instead(refused: Outcome, error: unknown): Outcome {
  if (refused.kind === 'failed') {
    // Half a character at the end, if there is one, could not be sent, and no server takes U+0000.
    const message = Buffer.from(refused.message.slice(0, FAILURE_CHARS_MAX)).toString().replaceAll('\0', '\ufffd')
    return { kind: 'failed', message, retryable: refused.retryable }
  }
  const why = error instanceof ApiError ? error.detail : String(error)
  return { kind: 'failed', message: `the ${WORDS[refused.kind]} was refused: ${why}`, retryable: false }
}

/** Whoever asks is not known or not allowed, which says nothing of what was said. */
function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && [401, 403].includes(error.status)
}
