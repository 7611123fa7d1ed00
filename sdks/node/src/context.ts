import type { Job, Progress, Variables } from './engine.js'

/** Why a handler should stop. */
export type Loss = 'LEASE_LOST' | 'CANCELLED' | 'SHUTDOWN'

/** Given to a handler beside its variables. */
export class JobContext {
  readonly #controller = new AbortController()
  readonly #report: (progress: Progress) => Promise<void>
  #loss: Loss | undefined

  constructor(
    readonly job: Job,
    report: (progress: Progress) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#report = report
  }

  /** The job's variables as they came. */
  get variables(): Variables {
    return this.job.variables
  }

  /** Aborted when the lease was lost, the job was cancelled, or the runner stops: nobody waits for the result any more. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why, if so. */
  get loss(): Loss | undefined {
    return this.#loss
  }

  /** Says how far it has come; `data` is in `job.progress` of the next attempt, should there be one. */
  progress(progress: Progress): Promise<void> {
    return this.#report(progress)
  }

  /** For runners and tests: tells the handler to stop. */
  lose(loss: Loss): void {
    if (this.#loss !== undefined) return
    this.#loss = loss
    this.#controller.abort(new DOMException(loss, 'AbortError'))
  }
}
