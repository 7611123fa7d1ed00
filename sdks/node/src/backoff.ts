import { UnavailableError } from './errors.js'

/** Waits that double up to a bound, each a random part of it, so that many clients do not come back at once. */
export class Backoff {
  #failures = 0

  constructor(
    readonly firstMillis = 100,
    readonly longestMillis = 10_000,
  ) {}

  /** It worked. */
  reset(): void {
    this.#failures = 0
  }

  /** How long to wait after one more failure; never less than the server asked for. */
  next(retryAfterMillis = 0): number {
    const bound = Math.min(this.longestMillis, this.firstMillis * 2 ** Math.min(this.#failures, 30))
    this.#failures += 1
    return Math.max(bound / 2 + (Math.random() * bound) / 2, retryAfterMillis)
  }
}

/** Waits, or less if the signal comes. */
export function pause(millis: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, millis)
    signal?.addEventListener('abort', end)
  })
}

/** Waits for something, but not for longer than this. */
export async function atMost(millis: number, what: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const end = () => {
    done.abort()
  }
  what.then(end, end)
  await pause(millis, done.signal)
}

/** Calls until it answers, or until another wait would end too late. */
export async function retry<T>(withinMillis: number, call: () => Promise<T>): Promise<T> {
  const backoff = new Backoff()
  const deadline = Date.now() + withinMillis
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      const wait = backoff.next(error.options.retryAfterMillis)
      if (deadline < Date.now() + wait) throw error
      await pause(wait)
    }
  }
}
