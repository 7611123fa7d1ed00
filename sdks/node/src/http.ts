/** JSON over HTTP: errors by what to do about them. */

import type { ConnectionOptions } from './engine.js'
import { ApiError, ConflictError, NotFoundError, UnavailableError } from './errors.js'
import * as json from './json.js'

/** The request was not done, and may be sent again. */
const BUSY = [429, 502, 503]
/** Whether the request was or will be done is not known. */
const NO_ANSWER = 504
/** The server was never reached. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

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
  readonly #headers: Record<string, string>

  constructor(address: string, options: HttpOptions = {}) {
    this.#address = address.replace(/\/+$/, '')
    this.#fetch = options.fetch ?? fetch
    this.#headers = { accept: 'application/json', ...options.headers }
    if (options.token !== undefined) this.#headers['authorization'] = `Bearer ${options.token}`
  }

  /** The JSON of the answer. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const limit = AbortSignal.timeout(options.timeoutMillis ?? 30_000)
    const body = options.content ?? (options.body === undefined ? undefined : json.stringify(options.body))
    const headers = { ...this.#headers, ...options.headers }
    if (!(body instanceof FormData)) headers['content-type'] = 'application/json'
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
    if (answer.ok) return text === '' ? undefined : json.parse(text)
    throw refusal(answer.status, text, answer.headers.get('retry-after'))
  }
}

function away(what: string, error: unknown): UnavailableError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (cause as { code?: unknown }).code
  const isRefused = typeof code === 'string' && NOT_SENT.includes(code)
  return new UnavailableError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
    isRefused,
    cause,
  })
}

function refusal(status: number, text: string, retryAfter: string | null): Error {
  let body: Record<string, unknown> = {}
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    // A proxy in between may answer in other words than the server's.
  }
  const words = (...names: string[]) => names.map((name) => body[name]).find((word) => typeof word === 'string')
  const [code, message] = [words('error', 'title') ?? '', words('message', 'detail') ?? text]
  if (BUSY.includes(status) || status === NO_ANSWER) {
    const retryAfterMillis = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
    return new UnavailableError(`${message} (${code}, ${status})`, {
      retryAfterMillis,
      isRefused: BUSY.includes(status),
    })
  }
  const kind = status === 404 ? NotFoundError : status === 409 ? ConflictError : ApiError
  return new kind(status, code, message)
}
