/** JSON over HTTP: errors by what to do about them. */

import { headersOf, locate, REST_DEFAULT } from './address.js'
import type { ConnectionOptions } from './engine.js'
import { ApiError, ConflictError, NotFoundError, UnavailableError } from './errors.js'
import * as json from './json.js'

export interface HttpOptions extends ConnectionOptions {
  /** Instead of the global one: for authorities and client certificates of your own, for proxies, for tests. */
  fetch?: typeof fetch
}

export interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
  /** A body of another type than JSON. */
  content?: string | FormData
  signal?: AbortSignal
  timeoutMillis?: number
}

export class Http {
  readonly #address: string
  readonly #fetch: typeof fetch
  readonly #headers: Headers

  constructor(address: string, options: HttpOptions = {}) {
    this.#address = locate(address === '' ? REST_DEFAULT : address, 'http', 'https').href.replace(/\/+$/, '')
    this.#fetch = options.fetch ?? fetch
    this.#headers = new Headers({ accept: 'application/json', ...headersOf(options) })
  }

  /** The JSON of the answer. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const limit = AbortSignal.timeout(options.timeoutMillis ?? 30_000)
    const body = options.content ?? (options.body === undefined ? undefined : json.stringify(options.body))
    const headers = new Headers(this.#headers)
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
    if (!(body instanceof FormData)) headers.set('content-type', 'application/json')
    let answer: Response
    let text: string
    try {
      answer = await this.#fetch(this.#address + path, {
        method,
        headers,
        signal: options.signal ? AbortSignal.any([limit, options.signal]) : limit,
        ...(body === undefined ? {} : { body }),
      })
      text = await answer.text()
    } catch (error) {
      throw away(`${method} ${path}`, error)
    }
    if (!answer.ok) throw refusal(answer.status, text, answer.headers.get('retry-after'))
    try {
      return text === '' ? undefined : json.parse(text)
    } catch (cause) {
      throw new UnavailableError(`${method} ${path}: the answer is no JSON, so it is another's`, { cause })
    }
  }
}

function away(what: string, error: unknown): UnavailableError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return new UnavailableError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

function refusal(status: number, text: string, retryAfter: string | null): Error {
  let body: Record<string, unknown> = {}
  try {
    body = (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    // A proxy in between may answer in other words than the server's.
  }
  const words = (...names: string[]) => names.map((name) => body[name]).find((word) => typeof word === 'string')
  const [code, message] = [words('error', 'title') ?? '', words('message', 'detail') ?? text]
  if (isAway(status)) {
    const retryAfterMillis = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
    return new UnavailableError(`${message} (${code}, ${status})`, { retryAfterMillis })
  }
  const kind = status === 404 ? NotFoundError : status === 409 ? ConflictError : ApiError
  return new kind(status, code, message)
}

/** Whether the same request may work later: nothing that is wrong with the server is wrong with the request. */
function isAway(status: number): boolean {
  return status === 408 || status === 429 || (500 <= status && status !== 501)
}
